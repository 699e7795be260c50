# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The table and the picture of compare.py."""

from xml.sax.saxutils import escape


def print_table(rows, limits):
    threads = rows[0]["threads"] if rows else 0
    peak = {name: 1 / seconds for name, seconds in limits.items() if name != "bytes"}
    bandwidth = 1 / limits["bytes"]
    print(
        f"\n{threads} thread(s); multiply-adds {peak['float']:.0f} GFLOP/s in float, {peak['double']:.0f} in double; "
        f"memory {bandwidth:.1f} GB/s. Microseconds:"
    )
    names = list(dict.fromkeys(name for row in rows for name in row["medians"]))
    print(f"{'':46}" + "".join(f"{name:>15}" for name in names) + f"{'ratio':>8}{'of limit':>10}")
    for row in rows:
        cells = "".join(f"{row['medians'][n] * 1e6:15.1f}" if n in row["medians"] else f"{'':15}" for n in names)
        ratio = f"{row['ratio']:8.2f}" if row["ratio"] else f"{'':8}"
        share = f"{row['share_of_limit']:9.0%}" if row["share_of_limit"] else ""
        print(f"{row['name']:46}{cells}{ratio} {share}")


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


def write_svg(path, result):
    """Bars of the ratios, for each piece of work one for each number of threads; 1 is the best peer, which is named."""
    works = {}
    for row in result["rows"]:
        if row["ratio"]:
            works.setdefault(row["name"], []).append(row)
    threads = sorted({row["threads"] for rows in works.values() for row in rows})
    colours = {True: ("#2a7f62", "#74b49b"), False: ("#b4552d", "#d99a7c")}
    bar, left, scale, most, top = 10, 290, 130, 4.0, 48
    height = bar * len(threads) + 4
    total = top + height * len(works) + 8
    machine = result["machine"]
    bars_of = ", then ".join(f"{count} thread{'s' if count > 1 else ''}" for count in threads)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + scale * most + 110:.0f}" height="{total}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="100%" height="{total}" fill="#ffffff"/>',
        f'<text x="8" y="18" font-size="13">Time of the best peer / time of devplace: {escape(machine["processor"])}, '
        f"{machine['date']}</text>",
        f'<text x="8" y="34">Bars: {bars_of}; beside them the ratio and the best peer</text>',
    ]
    one = left + scale
    lines.append(f'<line x1="{one}" y1="{top - 6}" x2="{one}" y2="{total - 8}" stroke="#888"/>')
    for i, (name, rows) in enumerate(works.items()):
        y = top + height * i
        lines.append(f'<text x="{left - 6}" y="{y + height / 2 + 2:.0f}" text-anchor="end">{escape(name)}</text>')
        for row in rows:
            k = threads.index(row["threads"])
            width = min(row["ratio"], most) * scale
            colour = colours[row["ratio"] >= 1][min(k, 1)]
            lines.append(f'<rect x="{left}" y="{y + bar * k}" width="{width:.1f}" height="{bar - 1}" fill="{colour}"/>')
            lines.append(
                f'<text x="{left + width + 4:.1f}" y="{y + bar * k + 8}" font-size="9">{row["ratio"]:.2f} '
                f"{escape(row['best_peer'])}</text>"
            )
    lines.append("</svg>")
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
