// Whether the measurement behind a machine model is to be trusted: [measurement] of
// its file. No time depends on it; who computes with the model passes it on.
#pragma once

#include <string>
#include <vector>

namespace foretrace::machine {

// Why it is not; empty: it is, or the file does not say. Throws Error "FILE:LINE: ...".
std::vector<std::string> read_invalid_reasons(const std::string& path);

// One line for whoever computes with the model in `path`; empty where it is to be trusted.
std::string warning_of(const std::string& path);

// Why a run that used these functions (Timing::Unknowns::unreliable, not empty) is refused.
std::string refusal_of(const std::vector<std::string>& unreliable);
// The same for a run that goes on all the same.
std::string doubt_of(const std::vector<std::string>& unreliable);
// Says that it shall.
inline constexpr const char* kAllowInvalid = "--allow-invalid";

// The table; nothing without reasons.
std::string format_measurement(const std::vector<std::string>& invalid_reasons);

}  // namespace foretrace::machine
