"""Damage files at random and read them, in a process of its own.

A reader that is given a damaged file must give a table or refuse it in one sentence. Anything else is a failure:
another error, a warning, much time, much memory, and above all a crash of Python, which is why this is a script:

    python fuzzing.py FORMAT,FORMAT... FIRST LAST FOLDER

damages the files ``FOLDER/seeds/FORMAT-*`` of one format after another by the mutations FIRST to LAST - 1 and prints
the failures as JSON. Formats and number determine a mutation, so that a failure can be repeated.
"""

import faulthandler
import gzip
import io
import json
import random
import struct
import sys
import time
import warnings
import zipfile
import zlib
from pathlib import Path

MAX_CPU_SECONDS = 5.0
MAX_MEGABYTES = 1000
MAX_HANGING_SECONDS = 300
ADDRESS_SPACE_BYTES = 2**34  # protects the machine that the tests run on
INTEGERS = (0, 1, 2, 3, 8, 127, 128, 255, 65535, 2**16, 10**6, 2**31 - 1, 2**31, 2**32 - 1, 2**48, 2**63 - 1, 2**64 - 1)
TOKENS = (
    *(b",", b";", b"\t", b"|", b" ", b"\n", b"\r", b'"', b"'", b"\\", b"\0", b"#", b"%", b"@", b"@data", b"?", b":"),
    *(b"NaN", b"inf", b"-", b"+", b"e", b"1e999", b"1e-999", b"0x1", b"1_0", b"true", b"{", b"}", b"{0 1}", b"()"),
    *(
        b"9" * 17,
        b"9" * 400,
        b"2147483647:1",
        b"99999999999:1",
        b"-1:1",
        b"qid:1",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xc3\xa9",
    ),
    *(
        b"9007199254740993",
        b"a" * 200_000,
        b" " * 5000,
        b"'" * 4999,
        b"1," * 3000,
        b"\xd9\xa3",
        b"0e99999999999999999999",
    ),
)


def flip(content, chance):
    for _ in range(chance.choice([1, 1, 2, 4, 16])):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)


def overwrite(content, chance):
    at = chance.randrange(len(content))
    n_bytes = chance.choice([1, 2, 4, 8])
    content[at : at + n_bytes] = chance.randbytes(n_bytes)


def truncate(content, chance):
    del content[chance.randrange(1, len(content) + 1) :]


def insert(content, chance):
    at = chance.randrange(len(content) + 1)
    content[at:at] = chance.choice([chance.randbytes(chance.randrange(1, 40)), chance.choice(TOKENS)])


def delete(content, chance):
    at = chance.randrange(len(content))
    del content[at : at + chance.choice([1, 2, 4, 8, 64, 512])]


def repeat(content, chance):
    at, n_bytes = chance.randrange(len(content)), chance.choice([1, 8, 64, 512])
    content[at:at] = content[at : at + n_bytes] * chance.choice([1, 2, 50])


def swap(content, chance):
    n_bytes = chance.choice([1, 4, 8, 32, 128])
    a, b = chance.randrange(len(content)), chance.randrange(len(content))
    if abs(a - b) >= n_bytes:
        content[a : a + n_bytes], content[b : b + n_bytes] = content[b : b + n_bytes], content[a : a + n_bytes]


def change_length(content, chance):
    """Write an integer where a length may be stored, or change the one that is there a little."""
    n_bytes, order = chance.choice([1, 2, 4, 8]), chance.choice(["little", "little", "big"])
    at = chance.randrange(len(content)) // chance.choice([1, n_bytes]) * chance.choice([1, n_bytes])
    at = min(at, max(0, len(content) - n_bytes))
    there = int.from_bytes(content[at : at + n_bytes], order)
    new = chance.choice([*INTEGERS, there + 1, there - 1, there * 2, there * 256, there + 8]) % 2 ** (8 * n_bytes)
    content[at : at + n_bytes] = new.to_bytes(n_bytes, order)


def substitute(content, chance):
    at = chance.randrange(len(content))
    content[at : at + chance.randrange(1, 6)] = chance.choice(TOKENS)


MUTATIONS = (flip, flip, overwrite, truncate, insert, delete, repeat, swap, change_length, change_length, substitute)


def mutated(content, chance):
    content = bytearray(content)
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        if content:
            chance.choice(MUTATIONS)(content, chance)
    return bytes(content)


def inside_gzip(content, chance):
    return gzip.compress(mutated(gzip.decompress(content), chance), compresslevel=1)


def inside_zip(content, chance):
    """Damage one member and store it with the checksum that it then has."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    damaged = chance.choice(list(members))
    members[damaged] = mutated(members[damaged], chance)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", chance.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return packed.getvalue()


def inside_mat(content, chance):
    """Damage one compressed variable and compress it again; files without any are damaged as they are."""
    at, variables = 128, []
    while at + 8 <= len(content) and content[124:128] == b"\x00\x01IM":
        kind, size = struct.unpack("<II", content[at : at + 8])
        variables += [(at, size)] if kind == 15 else []
        at += 8 + size
    if not variables:
        return mutated(content, chance)
    at, size = chance.choice(variables)
    packed = zlib.compress(mutated(zlib.decompress(content[at + 8 : at + 8 + size]), chance))
    return content[:at] + struct.pack("<II", 15, len(packed)) + packed + content[at + 8 + size :]


def damaged(name, content, chance):
    packed = {".gz": inside_gzip, ".npz": inside_zip, ".zip": inside_zip, ".mat": inside_mat, ".rda": inside_gzip}
    inside = packed.get(Path(name).suffix)
    return inside(content, chance) if inside and chance.random() < 0.5 else mutated(content, chance)


def table_of(path):
    """The file to read after a file was damaged; classes and labels are read with the table beside them."""
    name = path.name.replace("labels-idx1", "images-idx3")
    kind = name.partition("-")[0]
    return path.with_name(name).with_suffix(f".{kind}" if path.suffix == ".cls" else path.suffix)


def peak_megabytes():
    import resource  # only POSIX has it

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def failure_of(path):
    """Read a file; return a description of the failure, or None."""
    from ilfs.datasets import Dataset, read_table

    cpu, memory = time.process_time(), peak_megabytes()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", "the first column of")
            table = read_table(path, target=-1 if path.suffix == ".npy" else None)
        failure = None if isinstance(table, Dataset) and len(table.y) == table.X.shape[0] else f"gave {table!r}"
    except (ValueError, OSError, TypeError) as error:
        message = str(error)
        is_ours = (
            path.name.partition(".")[0].partition("images")[0] in message
            and "\n" not in message
            and len(message) < 2000
        )
        failure = None if is_ours else f"{type(error).__name__}: {message[:300]}"
    except BaseException as error:
        failure = f"{type(error).__name__}: {str(error)[:300]}"
    if time.process_time() - cpu > MAX_CPU_SECONDS:
        failure = f"took {time.process_time() - cpu:.0f} s"
    if peak_megabytes() - memory > MAX_MEGABYTES:
        failure = f"took {peak_megabytes() - memory:.0f} MB"
    return failure


def main(kinds, first, last, folder):
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES, ADDRESS_SPACE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    seeds = {kind: sorted((folder / "seeds").glob(f"{kind}-*")) for kind in kinds}
    failures = {}
    for number in range(first, last):
        chance = random.Random(f"{kinds} {number}")
        seed = chance.choice(seeds[kinds[number % len(kinds)]])
        path = folder / seed.name
        for other in seeds[kinds[number % len(kinds)]]:  # some formats need two files
            (folder / other.name).write_bytes(other.read_bytes())
        path.write_bytes(damaged(seed.name, seed.read_bytes(), chance))
        (folder / "number").write_text(str(number))  # so that the test can name it after a crash
        faulthandler.dump_traceback_later(MAX_HANGING_SECONDS, exit=True)
        failure = failure_of(table_of(path)) if path.stat().st_size else None
        faulthandler.cancel_dump_traceback_later()
        if failure:
            failures[number] = f"{seed.name}: {failure}"
    json.dump(failures, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1].split(","), int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
