// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Curves as a picture: an SVG file without anything but text, for the example data_parallel.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

/// Panels of curves, one above the other, with a common horizontal axis that counts from 1 and logarithmic vertical
/// ones.
namespace loss_chart {

/// One line: a value for each step.
struct curve {
  std::string name;            ///< in the legend
  std::vector<double> values;  ///< above 0; others are drawn at the lower border
};

/// Curves that share a vertical axis. The first panel has the legend.
struct panel {
  std::string title;          ///< what the values are
  std::vector<curve> curves;  ///< drawn in this order
};

namespace detail {

inline constexpr double width = 960, left = 76, right = 24, top = 56, panel_height = 270, gap = 56, bottom = 56;

/// Colours that people with a colour vision deficiency tell apart (Okabe and Ito), the first wide and pale so that
/// lines upon it stay visible; and the dashes by which lines that coincide are all seen.
struct style {
  const char* colour;
  double width;
  const char* dashes;
};
inline constexpr std::array<style, 6> styles{{{"#bbbbbb", 7, ""},
                                              {"#0072b2", 2, ""},
                                              {"#e69f00", 2, "12 12"},
                                              {"#009e73", 2, "4 16"},
                                              {"#cc79a7", 2, "2 6"},
                                              {"#000000", 1, ""}}};
inline const style& style_of(std::size_t i) {
  return styles[std::min(i, styles.size() - 1)];
}

template <class... Number>
std::string format(const char* pattern, Number... numbers) {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), pattern, numbers...);
  return text.data();
}

inline std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else
      result += c;
  }
  return result;
}

inline std::string label(double x, double y, const char* anchor, const std::string& text, const char* more = "") {
  return format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" %s>", x, y, anchor, more) + escaped(text) + "</text>\n";
}
inline std::string line(double x1, double y1, double x2, double y2, const char* colour) {
  return format("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x1, y1, x2, y2, colour);
}
inline std::string stroke(std::size_t i) {
  const style& s = style_of(i);
  return format("fill=\"none\" stroke=\"%s\" stroke-width=\"%g\" stroke-dasharray=\"%s\"", s.colour, s.width, s.dashes);
}

/// From 1, 2, 5, 10, 20, 50 ... the number that divides `length` into about six.
inline double tick_distance(double length) {
  const double decade = std::pow(10, std::floor(std::log10(std::max(length, 6.0) / 6)));
  const double rest = length / 6 / decade;
  return decade * (rest > 5 ? 10 : rest > 2 ? 5 : rest > 1 ? 2 : 1);
}

/// Whole decades that hold all positive values.
struct decades {
  double first = 0, last = 1;

  explicit decades(const panel& p) {
    double least = 0, most = 0;
    for (const curve& c : p.curves)
      for (const double value : c.values) {
        if (!(value > 0) || !std::isfinite(value)) continue;
        least = least > 0 ? std::min(least, value) : value;
        most = std::max(most, value);
      }
    if (least > 0) {
      first = std::floor(std::log10(least));
      last = std::max(first + 1, std::ceil(std::log10(most)));
    }
  }
  /// From 0 at the bottom to 1 at the top.
  double share(double value) const {
    return value > 0 ? std::clamp((std::log10(value) - first) / (last - first), 0.0, 1.0) : 0;
  }
};

inline std::string drawn(const panel& p, std::size_t first_style, double y0, double steps) {
  const double y1 = y0 + panel_height, x1 = width - right;
  const auto x_of = [&](double step) { return left + (x1 - left) * (steps > 1 ? (step - 1) / (steps - 1) : 0); };
  const decades axis(p);
  std::string svg = label(left, y0 - 10, "start", p.title, "font-weight=\"bold\"");
  for (double d = axis.first; d <= axis.last; ++d) {
    const double y = y1 - panel_height * (d - axis.first) / (axis.last - axis.first);
    svg += line(left, y, x1, y, "#e4e4e4") + label(left - 8, y + 4, "end", format("%g", std::pow(10, d)));
  }
  const double distance = tick_distance(steps);
  for (double step = distance; step <= steps; step += distance)
    svg += line(x_of(step), y0, x_of(step), y1, "#e4e4e4") + label(x_of(step), y1 + 18, "middle", format("%g", step));
  svg += line(left, y1, x1, y1, "#444444") + line(left, y0, left, y1, "#444444");
  for (std::size_t i = 0; i < p.curves.size(); ++i) {
    svg += "<polyline " + stroke(first_style + i) + " points=\"";
    for (std::size_t k = 0; k < p.curves[i].values.size(); ++k)
      svg +=
          format("%.1f,%.1f ", x_of(static_cast<double>(k + 1)), y1 - panel_height * axis.share(p.curves[i].values[k]));
    svg += "\"/>\n";
  }
  return svg;
}

inline std::string legend(const panel& p, double y0) {
  const double x = width - right - 330, height = 22 * static_cast<double>(p.curves.size()) + 10;
  std::string svg =
      format("<rect x=\"%.1f\" y=\"%.1f\" width=\"322\" height=\"%.1f\" fill=\"white\" stroke=\"#cccccc\"/>\n", x,
             y0 + 8, height);
  for (std::size_t i = 0; i < p.curves.size(); ++i) {
    const double y = y0 + 24 + 22 * static_cast<double>(i);
    svg += format("<path d=\"M %.1f %.1f h 48\" ", x + 10, y) + stroke(i) + "/>\n";
    svg += label(x + 68, y + 4, "start", p.curves[i].name);
  }
  return svg;
}

}  // namespace detail

/// The picture. Curves of later panels have the colours of those at the end of the first panel's.
inline std::string svg(const std::string& title, const std::string& steps_name, const std::vector<panel>& panels) {
  using namespace detail;
  std::size_t steps = 1;
  for (const panel& p : panels)
    for (const curve& c : p.curves)
      steps = std::max(steps, c.values.size());
  const double height = top + bottom + static_cast<double>(panels.size()) * (panel_height + gap) - gap + 30;
  std::string text = format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n",
      width, height, width, height);
  text += "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  text += label(left, 26, "start", title, "font-size=\"17\"");
  double y0 = top + 10;
  for (const panel& p : panels) {
    const std::size_t all = panels.front().curves.size();
    text += drawn(p, all - std::min(all, p.curves.size()), y0, static_cast<double>(steps));
    if (&p == &panels.front()) text += legend(p, y0);
    y0 += panel_height + gap;
  }
  text += label((left + width - right) / 2, y0 - gap + 44, "middle", steps_name);
  return text + "</svg>\n";
}

/// Writes a file aside and renames it, so that whoever reads it finds the old text or the new one. Throws where that
/// cannot be done.
inline void write_file(const std::string& path, const std::string& text) {
  const std::string aside = path + ".part";
  std::FILE* const file = std::fopen(aside.c_str(), "wb");
  bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr) written = std::fclose(file) == 0 && written;
  if (written && std::rename(aside.c_str(), path.c_str()) == 0) return;
  std::remove(aside.c_str());
  throw std::runtime_error(path + " cannot be written; give another path.");
}

}  // namespace loss_chart
