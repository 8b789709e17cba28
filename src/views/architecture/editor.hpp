// What the editor of descriptions is told (web/src/architecture): kinds of parts, the machine as it
// is laid out, faults with their lines, what a run gave. JSON; it computes nothing.
#pragma once

#include <string>

#include "architecture/elaborate.hpp"
#include "architecture/entity_run.hpp"
#include "architecture/flat_fabric.hpp"
#include "architecture/traffic.hpp"

namespace foretrace::views {

// The page with the behaviours that are built in; empty when this build has no pages.
std::string render_html_editor();

// What is edited: {file, text}.
std::string editor_state_json(const std::string& file, const std::string& text);
// {fault: {message, line}}; the line where `message` begins with "FILE:LINE:" of this file.
// With a description also its kinds.
std::string editor_fault_json(const std::string& file, const std::string& message,
                              const architecture::Description* description = nullptr);
// {kinds, flat}: what parts may be, and where everything lies.
std::string editor_machine_json(const architecture::Description& description,
                                const architecture::FlatArchitecture& flat);
// {summary, rows, loads}.
std::string editor_traffic_json(const architecture::FlatFabric& fabric,
                                const architecture::TrafficPoint& point);
std::string editor_queues_json(const architecture::EntityRunResult& result);

}  // namespace foretrace::views
