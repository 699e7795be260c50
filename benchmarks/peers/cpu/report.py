# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes the table and the picture of compare.py."""

import statistics
from xml.sax.saxutils import escape


def print_table(rows, limits):
    threads = rows[0]["threads"] if rows else 0
    peak = {name: 1 / seconds for name, seconds in limits.items() if name != "bytes"}
    bandwidth = 1 / limits["bytes"]
    print(
        f"\n{threads} thread(s); multiply-adds {peak['float']:.0f} GFLOP/s in float, {peak['double']:.0f} in double; "
        f"memory {bandwidth:.1f} GB/s.\nMicroseconds; ratio: the best peer's to devplace's; spread: the middle half of "
        "devplace's measurements / of the best peer's; !: disturbed by other work in every attempt:"
    )
    for section in dict.fromkeys(row["section"] for row in rows):
        print_section([row for row in rows if row["section"] == section])
    again, disturbed = sum(row["attempts"] > 1 for row in rows), sum(row["disturbed"] for row in rows)
    print(f"{again} of {len(rows)} rows were disturbed and measured again; {disturbed} stayed disturbed.")


def print_section(rows):
    names = list(dict.fromkeys(name for row in rows for name in row["medians"]))
    print(f"{'':46}" + "".join(f"{name:>15}" for name in names) + f"{'ratio':>8}{'spread':>12}{'of limit':>10}")
    for row in rows:
        cells = "".join(f"{row['medians'][n] * 1e6:15.1f}" if n in row["medians"] else f"{'':15}" for n in names)
        ratio = f"{row['ratio']:8.2f}" if row["ratio"] else f"{'':8}"
        spreads = [row["spread"][name] for name in ("devplace", row["best_peer"]) if name]
        spread = " / ".join(f"{share:.0%}" for share in spreads if share is not None)
        share = f"{row['share_of_limit']:10.0%}" if row["share_of_limit"] else f"{'':10}"
        print(f"{row['name']:46}{cells}{ratio}{spread:>12}{share}{' !' if row['disturbed'] else ''}")


def print_costs(costs):
    if not costs:
        print("\nNo profile: perf is not installed, or may not take samples (kernel.perf_event_paranoid).")
        return
    print("\nThe largest costs of devplace's step on one thread, by samples:")
    for name, parts in costs.items():
        print(f"  {name:40} " + ", ".join(f"{part} {share:.0%}" for part, share in parts))


def print_programs(result):
    print("\nFrom the start of the program to its first training step, and its peak memory:")
    for name, first in result["first_step"].items():
        print(f"  {name:16} {first['seconds']:7.3f} s  {first['mebibytes']:7.0f} MiB")
    print(f"devplace's program has {result['binary_bytes'] / 1e6:.1f} MB. Seconds to compile:")
    for compiler, sources in result["compile_seconds"].items():
        print(f"  {compiler:15} " + "  ".join(f"{name} {seconds:.1f}" for name, seconds in sources.items()))


def bar_of(rows):
    """Returns the ratio to the best peer of one row, or the geometric mean and range of several rows."""
    ratios = [row["ratio"] for row in rows]
    if len(rows) == 1:
        return ratios[0], None, f"{ratios[0]:.2f} {rows[0]['best_peer']}"
    mean = statistics.geometric_mean(ratios)
    low, high = min(ratios), max(ratios)
    return mean, (low, high), f"{mean:.2f} ({low:.2f} to {high:.2f}, {len(rows)} products)"


def write_svg(path, result):
    """Draws one bar of the ratio to the best peer, which is named, for each piece of work and number of threads.

    Products with a common summary share a bar, on which a line reaches from the lowest ratio to the highest.
    """
    sections = {}
    for row in result["rows"]:
        if row["ratio"]:
            works = sections.setdefault(row["section"], {}).setdefault(row["summary"], {})
            works.setdefault(row["threads"], []).append(row)
    threads = sorted({count for works in sections.values() for rows in works.values() for count in rows})
    colours = {True: ("#2a7f62", "#74b49b"), False: ("#b4552d", "#d99a7c")}
    bar, left, scale, most, top, heading = 10, 290, 130, 4.0, 48, 20
    height = bar * len(threads) + 4
    total = top + heading * len(sections) + height * sum(map(len, sections.values())) + 8
    machine = result["machine"]
    bars_of = ", then ".join(f"{count} thread{'s' if count > 1 else ''}" for count in threads)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + scale * most + 110:.0f}" height="{total}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="100%" height="{total}" fill="#ffffff"/>',
        f'<text x="8" y="18" font-size="13">Time of the best peer / time of devplace: {escape(machine["processor"])}, '
        f"{machine['date']}</text>",
        f'<text x="8" y="34">Bars: {bars_of}; beside them the ratio and the best peer, or of several products the '
        "geometric mean and the range</text>",
    ]
    one = left + scale
    lines.append(f'<line x1="{one}" y1="{top - 6}" x2="{one}" y2="{total - 8}" stroke="#888"/>')
    y = top
    for section, works in sections.items():
        title = section.capitalize()
        lines.append(f'<text x="8" y="{y + heading - 7}" font-size="12" font-weight="bold">{title}</text>')
        y += heading
        for name, rows in works.items():
            lines.append(f'<text x="{left - 6}" y="{y + height / 2 + 2:.0f}" text-anchor="end">{escape(name)}</text>')
            for count, same in rows.items():
                k = threads.index(count)
                ratio, ends, text = bar_of(same)
                width = min(ratio, most) * scale
                colour = colours[ratio >= 1][min(k, 1)]
                at = y + bar * k
                lines.append(f'<rect x="{left}" y="{at}" width="{width:.1f}" height="{bar - 1}" fill="{colour}"/>')
                if ends:
                    low, high = (left + min(end, most) * scale for end in ends)
                    middle = at + bar / 2 - 0.5
                    lines.append(f'<line x1="{low:.1f}" y1="{middle}" x2="{high:.1f}" y2="{middle}" stroke="#222"/>')
                    width = max(width, high - left)
                lines.append(f'<text x="{left + width + 4:.1f}" y="{at + 8}" font-size="9">{escape(text)}</text>')
            y += height
    lines.append("</svg>")
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
