"""The C interface of libforetrace-python.so, which lies two folders above, and what all need."""

import ctypes
import importlib
import os
import pathlib

# lib/foretrace/python/foretrace/_library.py, in the build folder as after installation.
HERE = pathlib.Path(os.path.abspath(__file__))
PREFIX = HERE.parents[4]
_PATH = HERE.parents[2] / "libforetrace-python.so"


class Error(Exception):
    """What Foretrace refused, in its words."""


class ArgumentError(Error, ValueError):
    """An argument that cannot be, by its name and value."""


def whole(where, name, value, least, most):
    """Whole numbers from least to most, as NumPy has them: a fraction is not rounded, nothing wraps around."""
    numpy = needed("numpy", where)
    numbers = numpy.asarray(value)
    if numbers.dtype.kind not in "iuf":
        raise ArgumentError(f"{where}: {name}: expected whole numbers from {least} to {most}, found {value!r}")
    right = (numbers >= least) & (numbers <= most)
    right &= numbers == numpy.floor(numbers)
    if not right.all():
        found = numbers[~right].flat[0]
        raise ArgumentError(f"{where}: {name}: expected whole numbers from {least} to {most}, found {found}")
    return numbers


def needed(module, for_what):
    """NumPy or pandas; who uses neither needs neither."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError(f"foretrace: {for_what} needs the module {module}, which this Python does not have; "
                          f"install it (Debian: python3-{module}, else: pip install {module})") from None


def _load():
    try:
        library = ctypes.CDLL(str(_PATH))
    except OSError as error:
        raise ImportError(f"foretrace: cannot load {_PATH}: {error}") from None
    pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32
    for name, result, arguments in (
            ("error", text, []),
            ("trace_open", pointer, [text]),
            ("trace_close", None, [pointer]),
            ("trace_description", text, [pointer]),
            ("columns", text, [text]),
            ("trace_rows", ctypes.c_int64, [pointer, text, number]),
            ("trace_fill", number, [pointer, text, number, ctypes.POINTER(text), ctypes.POINTER(pointer), number]),
            ("machine_open", pointer, [text]),
            ("machine_close", None, [pointer]),
            ("machine_description", text, [pointer]),
            ("machine_times", number, [pointer, text, text, pointer, pointer, pointer, ctypes.c_int64])):
        function = getattr(library, "foretrace_" + name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _load()


def call(name, *arguments):
    """foretrace_NAME; raises Error where it says that it failed."""
    answer = getattr(_library, "foretrace_" + name)(*arguments)
    if answer is None or answer == -1:
        raise Error(_library.foretrace_error().decode(errors="replace"))
    return answer


def close(name, handle):
    getattr(_library, "foretrace_" + name)(handle)
