# Which Python runs the generators and the tests: Debian's, if it is there, for which Debian's modules are. The first
# one on PATH may be a script that looks for an interpreter at each start, as pyenv's is, and takes ten times as long.
if(NOT DEFINED Python3_EXECUTABLE AND EXISTS /usr/bin/python3)
  set(Python3_EXECUTABLE /usr/bin/python3)
endif()
