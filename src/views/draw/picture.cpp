#include "views/draw/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "views/draw/markup.hpp"
#include "views/draw/page.hpp"
#include "views/draw/plot.hpp"
#include "views/draw/plot_frame.hpp"

namespace foretrace::views {
namespace {

constexpr const char* kPictureStyle =
    R"(.plot .cell { stroke: var(--paper); stroke-width: .6; }
.plot .rule { stroke: var(--rule); fill: none; }
.plot .curve { fill: none; stroke-width: 1.8; }
.plot .dot { fill: var(--ink); }
)";

std::string spots(const std::vector<Spot>& at) {
  std::string out;
  for (const Spot& spot : at) out += (out.empty() ? "" : " ") + pixel(spot.x) + "," + pixel(spot.y);
  return out;
}

std::string space(const Shape& shape) {
  if (shape.space.empty()) return "";
  std::string out;
  for (const Spot3& spot : shape.space)
    out += fmt::format("{}{:.4g} {:.4g} {:.4g}", out.empty() ? "" : " ", spot.x, spot.y, spot.z);
  return " data-p=\"" + out + "\"";
}

std::string title(const Shape& shape) {
  return shape.text.empty() ? "" : "<title>" + escape_html(shape.text) + "</title>";
}

std::string svg_text(const Shape& shape) {
  const char* anchor = shape.anchor == Anchor::middle ? " mid"
                       : shape.anchor == Anchor::end  ? " end"
                                                      : "";
  const Spot at = shape.at.front();
  const std::string place =
      shape.upright
          ? fmt::format("transform=\"translate({} {}) rotate(-90)\"", pixel(at.x), pixel(at.y))
          : fmt::format("x=\"{}\" y=\"{}\"", pixel(at.x), pixel(at.y));
  const std::string fill =
      shape.colour.empty() ? "" : fmt::format(" style=\"fill:{}\"", shape.colour);
  return fmt::format("<text class=\"label{}{}\" {}{}{}>{}</text>\n", shape.heavy ? " title" : "",
                     anchor, place, fill, space(shape), escape_html(shape.text));
}

std::string svg_shape(const Shape& shape) {
  switch (shape.kind) {
    case Shape::Kind::area:
      return fmt::format("<polygon class=\"cell\" fill=\"{}\" points=\"{}\"{}>{}</polygon>\n",
                         shape.colour, spots(shape.at), space(shape), title(shape));
    case Shape::Kind::line:
      return fmt::format(
          "<polyline class=\"{}\"{} points=\"{}\"{}/>\n", shape.heavy ? "curve" : "rule",
          shape.colour.empty() ? "" : fmt::format(" style=\"stroke:{}\"", shape.colour),
          spots(shape.at), space(shape));
    case Shape::Kind::dot:
      return fmt::format("<circle class=\"dot\" cx=\"{}\" cy=\"{}\" r=\"2.2\"{}{}>{}</circle>\n",
                         pixel(shape.at.front().x), pixel(shape.at.front().y),
                         shape.colour.empty() ? "" : " style=\"fill:" + shape.colour + "\"",
                         space(shape), title(shape));
    case Shape::Kind::text:
      return svg_text(shape);
  }
  return "";
}

// ---- PDF ----

// Of Helvetica, in thousandths of the letters' height, from the space to the tilde.
constexpr int kWidths[] = {
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};

std::string pdf_colour(const std::string& colour, const char* otherwise) {
  const std::string& hex = colour.empty() ? otherwise : colour;
  const auto share = [&hex](std::size_t at) {
    return std::stoi(hex.substr(at, 2), nullptr, 16) / 255.0;
  };
  return fmt::format("{:.3f} {:.3f} {:.3f}", share(1), share(3), share(5));
}

std::string pdf_path(const std::vector<Spot>& at, double height) {
  std::string out;
  for (const Spot& spot : at)
    out += fmt::format("{} {} {} ", pixel(spot.x), pixel(height - spot.y), out.empty() ? "m" : "l");
  return out;
}

std::string pdf_text(const Shape& shape, double height) {
  const double size = shape.heavy ? 13 : 11;
  double width = 0;
  std::string text;
  for (const char c : plain_text(shape.text)) {
    const char shown = c < ' ' || c > '~' ? '?' : c;
    width += kWidths[shown - ' '] * size / 1000;
    if (shown == '(' || shown == ')' || shown == '\\') text += '\\';
    text += shown;
  }
  const double back = shape.anchor == Anchor::begin    ? 0
                      : shape.anchor == Anchor::middle ? width / 2
                                                       : width;
  const Spot at = shape.at.front();
  const double x = shape.upright ? at.x : at.x - back;
  const double y = height - at.y - (shape.upright ? back : 0);
  return fmt::format("{} rg BT /{} {:.0f} Tf {} {} {} Tm ({}) Tj ET\n",
                     pdf_colour(shape.colour, "#16191f"), shape.heavy ? "B" : "F", size,
                     shape.upright ? "0 1 -1 0" : "1 0 0 1", pixel(x), pixel(y), text);
}

std::string pdf_shape(const Shape& shape, double height) {
  switch (shape.kind) {
    case Shape::Kind::area:
      return fmt::format("{} rg 1 1 1 RG 0.5 w {}b\n", pdf_colour(shape.colour, "#cccccc"),
                         pdf_path(shape.at, height));
    case Shape::Kind::line:
      return fmt::format("{} RG {} w {}S\n", pdf_colour(shape.colour, "#d6dae0"),
                         shape.heavy ? "1.8" : "0.8", pdf_path(shape.at, height));
    case Shape::Kind::dot: {
      const Spot at = shape.at.front();
      return fmt::format("{} rg {} {} 3 3 re f\n", pdf_colour(shape.colour, "#16191f"),
                         pixel(at.x - 1.5), pixel(height - at.y - 1.5));
    }
    case Shape::Kind::text:
      return pdf_text(shape, height);
  }
  return "";
}

}  // namespace

Picture stacked(const std::vector<Picture>& pictures) {
  Picture out;
  out.height = 0;
  for (const Picture& picture : pictures) {
    for (Shape shape : picture.shapes) {
      for (Spot& spot : shape.at) spot.y += out.height;
      out.shapes.push_back(std::move(shape));
    }
    out.height += picture.height;
  }
  return out;
}

std::string_view picture_style() {
  return kPictureStyle;
}

std::string render_svg_picture(const Picture& picture) {
  const bool turns =
      std::ranges::any_of(picture.shapes, [](const Shape& shape) { return !shape.space.empty(); });
  std::string out =
      fmt::format("<svg class=\"plot{}\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\">\n",
                  turns ? " turns" : "", picture.width, picture.height);
  for (const Shape& shape : picture.shapes) out += svg_shape(shape);
  return out + "</svg>\n";
}

std::string render_svg_file(const Picture& picture) {
  std::string out = render_svg_picture(picture);
  const std::string_view start = "<svg ";
  out.insert(start.size(), fmt::format("xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" "
                                       "height=\"{:.0f}\" ",
                                       picture.width, picture.height));
  out.insert(out.find('\n') + 1, "<style>\n" + std::string(page_colours()) +
                                     std::string(svg_plot_style()) + kPictureStyle +
                                     "svg { background: var(--paper); }\n</style>\n");
  return out;
}

std::string render_pdf(const std::vector<Picture>& pictures) {
  std::vector<std::string> objects(4);
  std::string kids;
  for (const Picture& picture : pictures) {
    kids += fmt::format("{} 0 R ", objects.size() + 1);
    objects.push_back(
        fmt::format("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {:.0f} {:.0f}] /Contents {} 0 R "
                    "/Resources << /Font << /F 3 0 R /B 4 0 R >> >> >>",
                    picture.width, picture.height, objects.size() + 2));
    std::string drawn;
    for (const Shape& shape : picture.shapes) drawn += pdf_shape(shape, picture.height);
    objects.push_back(fmt::format("<< /Length {} >>\nstream\n{}endstream", drawn.size(), drawn));
  }
  objects[0] = "<< /Type /Catalog /Pages 2 0 R >>";
  objects[1] = fmt::format("<< /Type /Pages /Count {} /Kids [{}] >>", pictures.size(), kids);
  objects[2] = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";
  objects[3] = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>";
  std::string out = "%PDF-1.4\n";
  std::string places;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    places += fmt::format("{:010} 00000 n \n", out.size());
    out += fmt::format("{} 0 obj\n{}\nendobj\n", i + 1, objects[i]);
  }
  return fmt::format(
      "{}xref\n0 {}\n0000000000 65535 f \n{}trailer\n<< /Size {} /Root 1 0 R "
      ">>\nstartxref\n{}\n%%EOF\n",
      out, objects.size() + 1, places, objects.size() + 1, out.size());
}

}  // namespace foretrace::views
