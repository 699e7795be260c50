// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Plots curves into an SVG file, for the examples data_parallel and hpc.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace log_chart {

/// A line of the plot.
struct curve {
  std::string name;            ///< in the legend
  std::vector<double> values;  ///< one per step; values that are not above 0 are left out
};

/// Curves over a logarithmic axis. Curves at the same position in different panels have the same style; the first panel
/// has the legend.
struct panel {
  std::string title;          ///< quantity and unit
  std::vector<curve> curves;  ///< at most five
  bool rises = false;         ///< the curves end high, so that the legend is better low
};

namespace detail {

inline constexpr double width = 960, left = 76, right = 936, top = 46, height = 270, distance = 326;

/// Colours that are distinguishable with a colour vision deficiency (Okabe and Ito). The first line is wide and pale
/// and the others have different dashes, so that coinciding curves all remain visible.
inline constexpr std::array<const char*, 5> styles{
    "fill='none' stroke='#bbbbbb' stroke-width='7'",
    "fill='none' stroke='#0072b2' stroke-width='2'",
    "fill='none' stroke='#e69f00' stroke-width='2' stroke-dasharray='12 12'",
    "fill='none' stroke='#009e73' stroke-width='2' stroke-dasharray='4 16'",
    "fill='none' stroke='#cc79a7' stroke-width='2' stroke-dasharray='2 6'",
};

inline std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text)
    result += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return result;
}

template <class Text>
void write_text(std::ostream& out, double x, double y, const char* anchor, const Text& text, const char* more = "") {
  out << "<text x='" << x << "' y='" << y << "' text-anchor='" << anchor << "' " << more << ">" << text << "</text>\n";
}

inline void write_line(std::ostream& out, double x0, double y0, double x1, double y1, const char* colour) {
  out << "<line x1='" << x0 << "' y1='" << y0 << "' x2='" << x1 << "' y2='" << y1 << "' stroke='" << colour << "'/>\n";
}

inline void write_legend(std::ostream& out, const panel& p, double y0) {
  const double x = right - 330, size = 22 * static_cast<double>(p.curves.size()) + 10;
  if (p.rises) y0 += height - size - 16;
  out << "<rect x='" << x << "' y='" << y0 + 8 << "' width='322' height='" << size
      << "' fill='white' stroke='#cccccc'/>\n";
  for (std::size_t i = 0; i < p.curves.size(); ++i) {
    const double y = y0 + 24 + 22 * static_cast<double>(i);
    out << "<path d='M " << x + 10 << " " << y << " h 48' " << styles.at(i) << "/>\n";
    write_text(out, x + 68, y + 4, "start", escaped(p.curves[i].name));
  }
}

/// The vertical axis ends, and has its ticks, at powers of ten.
inline void write_panel(std::ostream& out, const panel& p, double y0, double steps) {
  double least = HUGE_VAL, most = 0;
  for (const curve& c : p.curves)
    for (const double value : c.values)
      if (value > 0) least = std::min(least, value), most = std::max(most, value);
  const double first = std::floor(std::log10(most > 0 ? least : 1));
  const double last = std::max(first + 1, std::ceil(std::log10(most > 0 ? most : 1)));
  const auto x_of = [&](double step) { return left + (right - left) * step / steps; };
  const auto y_of = [&](double power) { return y0 + height * (last - power) / (last - first); };

  write_text(out, left, y0 - 10, "start", escaped(p.title), "font-weight='bold'");
  for (double power = first; power <= last; ++power) {
    write_line(out, left, y_of(power), right, y_of(power), power == first ? "#444444" : "#e4e4e4");
    write_text(out, left - 8, y_of(power) + 4, "end", std::pow(10, power));
  }
  for (int sixth = 0; sixth <= 6; ++sixth) {
    const double step = std::round(steps * sixth / 6);
    write_line(out, x_of(step), y0, x_of(step), y0 + height, sixth == 0 ? "#444444" : "#e4e4e4");
    write_text(out, x_of(step), y0 + height + 18, "middle", step);
  }
  for (std::size_t i = 0; i < p.curves.size(); ++i) {
    out << "<polyline " << styles.at(i) << " points='";
    for (std::size_t step = 0; step < p.curves[i].values.size(); ++step)
      if (const double value = p.curves[i].values[step]; value > 0)
        out << x_of(static_cast<double>(step + 1)) << "," << y_of(std::log10(value)) << " ";
    out << "'/>\n";
  }
}

}  // namespace detail

/// Writes the panels, one below the other, with a common axis of steps counted from 1.
inline void write(const std::string& path, const std::string& steps_name, const std::vector<panel>& panels) {
  using namespace detail;
  std::size_t steps = 1;
  for (const panel& p : panels)
    for (const curve& c : p.curves)
      steps = std::max(steps, c.values.size());
  const double all = top + distance * static_cast<double>(panels.size());
  std::ofstream out(path);
  out << "<svg xmlns='http://www.w3.org/2000/svg' width='" << width << "' height='" << all << "' viewBox='0 0 " << width
      << " " << all << "' font-family='sans-serif' font-size='13'>\n<rect width='100%' height='100%' fill='white'/>\n";
  double y0 = top;
  for (const panel& p : panels) {
    write_panel(out, p, y0, static_cast<double>(steps));
    if (&p == &panels.front()) write_legend(out, p, y0);
    y0 += distance;
  }
  write_text(out, (left + right) / 2, all - 12, "middle", escaped(steps_name));
  out << "</svg>\n";
  if (!out.flush()) throw std::runtime_error("the picture could not be written: " + path);
}

}  // namespace log_chart
