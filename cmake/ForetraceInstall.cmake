# What is installed beside the tool and its libraries: headers, data, documentation, the files by
# which other builds find Foretrace, completion for shells, and `uninstall`.
include(CMakePackageConfigHelpers)

install(DIRECTORY machines/ DESTINATION ${CMAKE_INSTALL_DATADIR}/foretrace/machines)
install(DIRECTORY models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/foretrace/models)
install(DIRECTORY topologies/ DESTINATION ${CMAKE_INSTALL_DATADIR}/foretrace/topologies)
install(DIRECTORY architectures/ DESTINATION ${CMAKE_INSTALL_DATADIR}/foretrace/architectures)
install(FILES include/foretrace.h include/foretrace.hpp include/foretrace_compat.h include/foretrace_entity.hpp
              include/foretrace_entity_statistics.hpp
              include/foretrace.f90 DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/foretrace)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/foretrace/docs
        FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png")

set(pkgconfig_dir ${CMAKE_INSTALL_DATADIR}/pkgconfig)
set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/foretrace)
# Relative, so that an installation can be moved.
file(RELATIVE_PATH FORETRACE_PC_TO_PREFIX /${pkgconfig_dir} /)
file(RELATIVE_PATH FORETRACE_CMAKE_TO_PREFIX /${package_dir} /)
configure_file(cmake/package/foretrace.pc.in foretrace.pc @ONLY)
configure_file(cmake/package/foretrace-config.cmake.in foretrace-config.cmake @ONLY)
write_basic_package_version_file(foretrace-config-version.cmake COMPATIBILITY SameMajorVersion
                                 ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/foretrace.pc DESTINATION ${pkgconfig_dir})
install(FILES ${PROJECT_BINARY_DIR}/foretrace-config.cmake
              ${PROJECT_BINARY_DIR}/foretrace-config-version.cmake DESTINATION ${package_dir})

install(FILES tools/completion/foretrace.bash RENAME foretrace
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES tools/completion/_foretrace DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES tools/completion/foretrace.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

add_custom_target(uninstall
  COMMAND ${CMAKE_COMMAND} -DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
          -P ${PROJECT_SOURCE_DIR}/cmake/package/uninstall.cmake
  VERBATIM)
