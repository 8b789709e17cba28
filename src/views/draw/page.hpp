// The frame of an HTML page that needs no other file: head, colours, tables.
#pragma once

#include <string>
#include <string_view>

namespace foretrace::views {

// CSS variables of all pages, those of web/ included, light and dark: colours.css.
std::string_view page_colours();

// Up to and with the title as a heading. `style` is added to what all pages
// have.
std::string begin_page(std::string_view title, std::string_view style);
std::string end_page();

}  // namespace foretrace::views
