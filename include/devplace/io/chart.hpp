// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Not part of all.hpp: programs that draw curves include it.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <locale>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/io/output_file.hpp>
#include <devplace/tensor/detail/float_bits.hpp>

namespace devplace {

/// A line of a chart.
struct chart_curve {
  std::string name;         ///< in the legend
  std::vector<double> y;    ///< NaN, magnitudes above 1e300 and, on a logarithmic axis, numbers up to 0 are not drawn
  std::vector<double> x{};  ///< not negative; empty: 1, 2, 3, ...
};

/// Curves over one vertical axis. Curve k has the same style in every panel. A panel has a legend if its curves' names
/// are not empty and differ from the names in the panel above.
struct chart_panel {
  std::string title;                ///< quantity and unit
  std::vector<chart_curve> curves;  ///< at most five
  bool rises = false;               ///< true if the curves end high: puts the legend at the bottom
  bool logarithmic = true;          ///< whether the axis has powers of ten
};

namespace detail {

/// Draws a chart as SVG text.
class chart_text {
 public:
  chart_text(const std::string& x_name, const std::vector<chart_panel>& panels) {
    out_.imbue(std::locale::classic());
    const double all = top + distance * static_cast<double>(panels.size());
    out_ << "<svg xmlns='http://www.w3.org/2000/svg' width='" << width << "' height='" << all << "' viewBox='0 0 "
         << width << " " << all
         << "' font-family='sans-serif' font-size='13'>\n<rect width='100%' height='100%' fill='white'/>\n";
    for (const chart_panel& p : panels)
      for (const chart_curve& c : p.curves)
        for (std::size_t i = 0; i < c.y.size(); ++i)
          if (is_finite(x_at(c, i))) last_x_ = std::max(last_x_, x_at(c, i));
    double y0 = top;
    std::vector<std::string> above;
    for (const chart_panel& p : panels) {
      panel(p, y0);
      std::vector<std::string> names;
      for (const chart_curve& c : p.curves) names.push_back(c.name);
      const bool has_names = std::any_of(names.begin(), names.end(), [](const auto& name) { return !name.empty(); });
      if (has_names && names != above) legend(p, y0);
      above = std::move(names);
      y0 += distance;
    }
    text((left + right) / 2, all - 12, "middle", escaped(x_name));
    out_ << "</svg>\n";
  }

  std::string str() const { return out_.str(); }

 private:
  static constexpr double width = 960, left = 76, right = 936, top = 46, height = 270, distance = 326;

  /// Colours for all colour visions (Okabe and Ito). The first line is wide and pale and the other lines have different
  /// dashes, so that coinciding curves remain visible. A single curve has the second style.
  static constexpr std::array<const char*, 5> styles{
      "fill='none' stroke='#bbbbbb' stroke-width='7'",
      "fill='none' stroke='#0072b2' stroke-width='2'",
      "fill='none' stroke='#e69f00' stroke-width='2' stroke-dasharray='12 12'",
      "fill='none' stroke='#009e73' stroke-width='2' stroke-dasharray='4 16'",
      "fill='none' stroke='#cc79a7' stroke-width='2' stroke-dasharray='2 6'",
  };

  static const char* style_of(const chart_panel& p, std::size_t curve) {
    return styles[p.curves.size() == 1 ? 1 : curve];
  }

  /// The vertical axis from `first` to `last`, with ticks `step` apart; on a logarithmic axis, exponents of ten.
  struct scale {
    double first, last, step;
  };

  static std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) result += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
    return result;
  }
  static double x_at(const chart_curve& c, std::size_t i) { return c.x.empty() ? static_cast<double>(i + 1) : c.x[i]; }
  static bool is_drawn(const chart_panel& p, const chart_curve& c, std::size_t i) {
    return is_finite(c.y[i]) && std::abs(c.y[i]) <= 1e300 && is_finite(x_at(c, i)) && (c.y[i] > 0 || !p.logarithmic);
  }
  static double height_of(const chart_panel& p, double value) { return p.logarithmic ? std::log10(value) : value; }

  static scale scale_of(const chart_panel& p) {
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (const chart_curve& c : p.curves)
      for (std::size_t i = 0; i < c.y.size(); ++i)
        if (is_drawn(p, c, i)) {
          least = std::min(least, height_of(p, c.y[i]));
          most = std::max(most, height_of(p, c.y[i]));
        }
    if (least > most) least = most = 0;
    double step = 1;
    if (!p.logarithmic) {  // 1, 2 or 5 times a power of ten, for four to ten ticks
      const double range = most > least ? most - least : std::max(std::abs(most), 1.0);
      step = std::pow(10, std::floor(std::log10(range)));
      step = range / step < 2 ? step / 5 : range / step < 5 ? step / 2 : step;
    }
    const double first = std::floor(least / step) * step;
    return {first, std::max(first + step, std::ceil(most / step) * step), step};
  }

  template <class Text> void text(double x, double y, const char* anchor, const Text& words, const char* more = "") {
    out_ << "<text x='" << x << "' y='" << y << "' text-anchor='" << anchor << "' " << more << ">" << words
         << "</text>\n";
  }
  void line(double x0, double y0, double x1, double y1, bool is_axis) {
    out_ << "<line x1='" << x0 << "' y1='" << y0 << "' x2='" << x1 << "' y2='" << y1 << "' stroke='"
         << (is_axis ? "#444444" : "#e4e4e4") << "'/>\n";
  }

  void legend(const chart_panel& p, double y0) {
    const double x = right - 330, size = 22 * static_cast<double>(p.curves.size()) + 10;
    if (p.rises) y0 += height - size - 16;
    out_ << "<rect x='" << x << "' y='" << y0 + 8 << "' width='322' height='" << size
         << "' fill='white' stroke='#cccccc'/>\n";
    for (std::size_t i = 0; i < p.curves.size(); ++i) {
      const double y = y0 + 24 + 22 * static_cast<double>(i);
      out_ << "<path d='M " << x + 10 << " " << y << " h 48' " << style_of(p, i) << "/>\n";
      text(x + 68, y + 4, "start", escaped(p.curves[i].name));
    }
  }

  void panel(const chart_panel& p, double y0) {
    const scale s = scale_of(p);
    const auto x_of = [&](double x) { return left + (right - left) * x / last_x_; };
    const auto y_of = [&](double y) { return y0 + height * (s.last - y) / (s.last - s.first); };
    text(left, y0 - 10, "start", escaped(p.title), "font-weight='bold'");
    const int ticks = static_cast<int>(std::round((s.last - s.first) / s.step));
    for (int tick = 0; tick <= ticks; ++tick) {
      const double y = s.step * (std::round(s.first / s.step) + tick);
      line(left, y_of(y), right, y_of(y), tick == 0);
      text(left - 8, y_of(y) + 4, "end", p.logarithmic ? std::pow(10, y) : y);
    }
    for (int sixth = 0; sixth <= 6; ++sixth) {
      const double exact = last_x_ * sixth / 6, x = last_x_ >= 6 ? std::round(exact) : exact;
      line(x_of(x), y0, x_of(x), y0 + height, sixth == 0);
      text(x_of(x), y0 + height + 18, "middle", x);
    }
    for (std::size_t i = 0; i < p.curves.size(); ++i) {
      const chart_curve& c = p.curves[i];
      out_ << "<polyline " << style_of(p, i) << " points='";
      for (std::size_t k = 0; k < c.y.size(); ++k)
        if (is_drawn(p, c, k)) out_ << x_of(x_at(c, k)) << "," << y_of(height_of(p, c.y[k])) << " ";
      out_ << "'/>\n";
    }
  }

  std::ostringstream out_;
  double last_x_ = 0x1p-1022;
};

inline void check_panels(const std::vector<chart_panel>& panels) {
  for (const chart_panel& p : panels) {
    if (p.curves.size() > 5)
      throw argument_error({"write_chart: panel \"", p.title, "\" has ", p.curves.size(),
                            " curves, and only five can be told apart; draw the others in another panel."});
    for (const chart_curve& c : p.curves) {
      if (!c.x.empty() && c.x.size() != c.y.size())
        throw argument_error({"write_chart: a curve of panel \"", p.title, "\" has ", c.y.size(), " values at ",
                              c.x.size(), " positions; give a position for each value, or none."});
      if (std::any_of(c.x.begin(), c.x.end(), [](double x) { return x < 0; }))
        throw argument_error({"write_chart: a curve of panel \"", p.title,
                              "\" has a negative position, and the axis begins at 0; count positions from 0."});
    }
  }
}

}  // namespace detail

/// Draws curves as an SVG file: panels one below the other, with a common horizontal axis from 0. Replaces an old file
/// when the new one is complete, as write_npy does. Throws file_error, and argument_error for invalid panels.
inline void write_chart(const std::string& path, const std::string& x_name, const std::vector<chart_panel>& panels) {
  detail::check_panels(panels);
  const std::string text = detail::chart_text(x_name, panels).str();
  detail::output_file file(path, "write_chart");
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace devplace
