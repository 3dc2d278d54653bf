"""Tables with planted markers, and all that a file says, unpacked: for tests that nothing leaks."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from hypothesis import strategies as st

NAMES, RARE, SECRET, INDEX = "idmark", "raremark", "secretmark", "indexmark"
"""What the markers begin with: of identifying columns, rare quasi-identifiers, rare sensitive values and
the index of a table."""


@dataclass(frozen=True)
class Planted:
    """Records with markers, and the job for them."""

    frame: pd.DataFrame
    tree: str
    parquet: bool

    def write(self, folder: Path, *, constraints: str = '["k >= 2"]') -> None:
        folder.mkdir(parents=True, exist_ok=True)
        name = "people.parquet" if self.parquet else "people.csv"
        if self.parquet:
            self.frame.to_parquet(folder / name)
        else:
            self.frame.to_csv(folder / name, index=False)
        (folder / "city.csv").write_text(self.tree)
        (folder / "job.toml").write_text(
            f'[data]\nfile = "{name}"\n'
            '[columns]\nperson = "identifying"\nill = "sensitive"\n'
            'city = { role = "quasi-identifying", hierarchy = "city.csv" }\n'
            'age = { role = "quasi-identifying", hierarchy = '
            '{ kind = "intervals", low = 0, high = 128, widths = [8, 32] } }\n'
            f'[problem]\nname = "Cuts"\nconstraints = {constraints}\n'
            'suppression = { policy = "Budget", fraction = 0.1 }\n'
            "[search]\npopulation = 10\ngenerations = 4\nseed = 1\n"
        )


@st.composite
def planted(draw: st.DrawFn) -> Planted:
    """A table of some dozens of people; a few of them have a city or an illness of their own."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = draw(st.integers(40, 120))
    towns = [f"town{i}" for i in range(draw(st.integers(2, 5)))]
    city = rng.choice(towns, rows).astype(object)
    ill = rng.choice(["flu", "cold", "none"], rows).astype(object)
    alone = rng.choice(rows, draw(st.integers(1, 4)), replace=False)
    for i, row in enumerate(alone):
        city[row] = f"{RARE}{i}{rng.integers(1 << 40):x}"
        if draw(st.booleans()):
            ill[row] = f"{SECRET}{i}{rng.integers(1 << 40):x}"
    frame = pd.DataFrame(
        {
            "person": [f"{NAMES}{i}x{rng.integers(1 << 40):x}" for i in range(rows)],
            "city": city,
            "unnamed": [f"{NAMES}{i}y{rng.integers(1 << 40):x}" for i in range(rows)],
            "age": rng.integers(18, 90, rows),
            "ill": ill,
        },
        index=pd.Index([f"{INDEX}{i}" for i in range(rows)], name=f"{INDEX}name"),
    )
    leaves = [*towns, *(str(city[row]) for row in alone)]
    tree = "".join(f"{leaf};{'north' if i % 2 else 'south'};*\n" for i, leaf in enumerate(leaves))
    return Planted(frame, tree, draw(st.booleans()))


def unpacked(path: Path) -> bytes:
    """A file as it is, and all that is compressed in it."""
    raw = path.read_bytes()
    parts = [path.name.encode(), raw]
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            parts += [archive.read(name) for name in archive.namelist()]
            parts += [info.comment + info.extra for info in archive.infolist()]
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        parts.append(repr(pq.read_schema(path).metadata).encode())
        parts += [repr(chunk).encode() for column in table.columns for chunk in column.chunks]
        parts.append(table.to_pandas().to_csv().encode())
    if path.suffix == ".png":
        parts += _chunks(raw)
    return b"\n".join(parts)


def _chunks(raw: bytes) -> list[bytes]:
    """Texts of a PNG file, compressed ones too."""
    stream, found = io.BytesIO(raw[8:]), []
    while len(head := stream.read(8)) == 8:
        length, kind = struct.unpack(">I4s", head)
        content = stream.read(length)
        stream.read(4)
        if kind in (b"zTXt", b"iTXt", b"eXIf"):
            for place in range(len(content)):
                try:
                    content += zlib.decompress(content[place:])
                    break
                except zlib.error:
                    continue
        if kind != b"IDAT":
            found.append(kind + content)
    return found


def everything(folder: Path) -> dict[str, str]:
    """All files below a folder, as text, whatever they are."""
    return {
        str(path.relative_to(folder)): unpacked(path).decode("latin-1")
        for path in folder.rglob("*")
        if path.is_file()
    }


def markers(text: str, *kinds: str) -> set[str]:
    """Markers in a text, also where it is cut or escaped."""
    return {found for kind in kinds for found in re.findall(rf"{kind}\w*", text)}
