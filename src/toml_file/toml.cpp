#define TOML_IMPLEMENTATION
#include "toml_file/toml.hpp"
