"""The table that ``dcgmi diag`` prints for people.

    | Diagnostic                | Result                                         |
    |-----  Deployment  --------+------------------------------------------------|
    | software                  | Pass                                           |
    |                           | GPU0: Pass                                     |
    | GPU Memory                | Fail - GPU: 3                                  |
    | Error                     | GPU 3 has uncorrectable memory errors and row  |
    |                           |  remappings are pending                        |

A row with an empty left cell continues the one above: a result of one GPU, or the rest of a wrapped sentence.
"""

from __future__ import annotations

import re

from fourplane.formats.model import Reading, lines_of, natural_or_none
from fourplane.formats.nodes.dcgm_model import DcgmDiag, DcgmTest, status_of, worst

__all__ = ["is_table", "read_table"]

MAX_ROWS = 100_000
MAX_MESSAGE = 2000

_HEADER = re.compile(r"\| Diagnostic {1,80}\| Result", re.ASCII)
_SECTION = re.compile(r"[|+]-{2,40} {1,4}([A-Za-z][A-Za-z ]{0,40}?) {1,4}-{2,80}\+", re.ASCII)
_ROW = re.compile(r"\|([^|]{1,200})\|([^|]{0,400})(\|?) *")
_RESULT = re.compile(
    r"(Pass|Fail|Warn|Skip|Not Run)\b(?: - (?:All|GPUs?: ?([\d, ]{1,400})))?", re.IGNORECASE | re.ASCII
)
_PER_GPU = re.compile(r"GPU ?(\d{1,4}): (Pass|Fail|Warn|Skip|Not Run)\b", re.IGNORECASE | re.ASCII)
_REMARKS = {"warning", "error", "info", "eror", "errors", "warnings"}
_METADATA = {
    "DCGM Version": "version",
    "Driver Version Detected": "driver",
    "GPU Device IDs Detected": "ids",
}


def is_table(head: str) -> bool:
    """Tell whether a text beginning with ``head`` holds the table of a diagnostic."""
    return _HEADER.search(head) is not None


class _Reader:
    def __init__(self, diag: DcgmDiag, reading: Reading[DcgmDiag]) -> None:
        self.diag = diag
        self.reading = reading
        self.category = ""
        self.test: DcgmTest | None = None
        self.remark: tuple[int, str] | None = None

    def row(self, number: int, name: str, value: str) -> None:
        if not name:
            self._continue(value)
            return
        self.close_remark()
        if self.category == "Metadata" or name in _METADATA:
            self._metadata(name, value)
        elif name.lower() in _REMARKS:
            self.remark = (number, value)
        elif (result := _RESULT.match(value)) is not None and len(self.diag.tests) < MAX_ROWS:
            status = status_of(result[1]) or "skip"
            self.test = DcgmTest(number, name, self.category, status)
            for index in (result[2] or "").split(","):
                if (gpu := natural_or_none(index.strip(), 6)) is not None:
                    self.test.gpus.setdefault(status, []).append(gpu)
            self.diag.tests.append(self.test)
        else:
            self.reading.refuse("dcgm-row-refused", number, f"{name} | {value}")

    def _metadata(self, name: str, value: str) -> None:
        key = _METADATA.get(name)
        if key == "version":
            self.diag.version = value
        elif key == "driver":
            self.diag.driver = value
        elif key == "ids":
            self.diag.device_ids = [one.strip() for one in value.split(",") if one.strip()][:4096]

    def _continue(self, value: str) -> None:
        if self.remark is not None:
            number, text = self.remark
            self.remark = (number, f"{text} {value}"[:MAX_MESSAGE])
            return
        result = _PER_GPU.match(value)
        if self.test is not None and result is not None:
            status = status_of(result[2]) or "skip"
            self.test.gpus.setdefault(status, []).append(int(result[1]))
            self.test.status = worst([self.test.status, status]) or status
            self.diag.gpus.add(int(result[1]))
        elif self.test is not None and len(self.test.messages) < 1000:
            self.test.messages.append(value[:MAX_MESSAGE])

    def close_remark(self) -> None:
        if self.remark is None:
            return
        number, text = self.remark
        self.remark = None
        if self.test is not None:
            self.test.messages.append(text)
        else:
            self.diag.errors.append((number, text))


def read_table(text: str, reading: Reading[DcgmDiag]) -> tuple[DcgmDiag, bool]:
    """Return what the table says, and whether it was closed by its bottom border."""
    diag = DcgmDiag("text")
    reader = _Reader(diag, reading)
    inside, closed = False, False
    for number, line in lines_of(text, reading):
        line = line.strip()
        if not inside:
            inside = _HEADER.search(line) is not None
            continue
        section = _SECTION.match(line)
        if section is not None:
            reader.close_remark()
            reader.category, reader.test = section[1].strip(), None
            if reader.category != "Metadata" and reader.category not in diag.categories and len(diag.categories) < 100:
                diag.categories.append(reader.category)
        elif line.startswith("+-"):
            closed = True
            break
        elif line.startswith("|") and not line.startswith("|="):
            row = _ROW.fullmatch(line)
            if row is None or not row[3]:
                reading.refuse("dcgm-row-refused", number, line)
            else:
                reader.row(number, row[1].strip(), row[2].strip())
    reader.close_remark()
    return diag, closed
