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
    """Bars of the ratios, one row of work after the other; 1 is the best peer."""
    rows = [row for row in result["rows"] if row["ratio"]]
    height, left, scale, most = 16, 420, 120, 4.0
    total = 60 + height * len(rows)
    machine = result["machine"]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + scale * most + 60:.0f}" height="{total}" '
        'font-family="sans-serif" font-size="11">',
        f'<text x="8" y="18" font-size="13">{escape(machine["processor"])}, {machine["date"]}: '
        "time of the best peer / time of devplace</text>",
    ]
    for i, row in enumerate(rows):
        y = 36 + height * i
        colour = "#2a7f62" if row["ratio"] >= 1 else "#b4552d"
        label = f"{row['name']}, {row['threads']} thread(s), {row['best_peer']}"
        lines.append(f'<text x="{left - 6}" y="{y + 10}" text-anchor="end">{escape(label)}</text>')
        width = min(row["ratio"], most) * scale
        lines.append(f'<rect x="{left}" y="{y}" width="{width:.1f}" height="{height - 4}" fill="{colour}"/>')
        lines.append(f'<text x="{left + width + 4:.1f}" y="{y + 10}">{row["ratio"]:.2f}</text>')
    one = left + scale
    lines.append(f'<line x1="{one}" y1="28" x2="{one}" y2="{total - 16}" stroke="#222"/>')
    lines.append("</svg>")
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
