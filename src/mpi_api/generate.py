#!/usr/bin/env python3
"""Generates the capture library's wrappers from mpi.h and functions.txt.

    generate.py --header MPI_PREPROCESSED --table functions.txt --output DIR

MPI_PREPROCESSED is mpi.h as the compiler's preprocessor leaves it (-E -P). Writes

    DIR/mpi_functions.inc   FORETRACE_FUNCTION(name, class) for every function
    DIR/mpi_wrappers.inc    one extern "C" wrapper for every function
    DIR/mpi_signatures.inc  FORETRACE_SIGNATURE(name, result, parameters, arguments), as
                            strings, for every function
    DIR/mpi_fortran.inc     what stands in for it in the MPI's Fortran library,
                            and the table of these, sorted by name

A function is wrapped if mpi.h declares both MPI_X and PMPI_X. Its class comes
from the table; a large-count MPI_X_c inherits the row of MPI_X. What a wrapper
does is the business of src/capture; here it is only called.
"""

import argparse
import pathlib
import re
import sys

import profile_wrapper
from rules import rule_call


# What a class needs besides its parameters, in a form to match the options.
NEEDED_OPTIONS = {
    "send": r"\w+ post=\w+",
    "isend": r"\w+",
    "send_init": r"\w+",
    "collective": r"\w+ bytes=\S+( counts=\S+)?( between=\S+)?",
    "file_collective": r"\d",
    "neighbor": r"out=\S+\s+in=\S+",
    "comm_create": r"\w+",
    "win_access": r"\w+",
    "win_flush": r"\w+",
    "untreated": r"(sync)?",
}


class Function:
    def __init__(self, name, result, types, names):
        self.name = name
        self.result = result
        self.types = types  # with the parameter's name cut out as '@'
        self.names = names

    def signature(self, names):
        if self.types == ["void"] or not self.types:
            return "void"
        return ", ".join(t.replace("@", n) for t, n in zip(self.types, names))


class Row:
    def __init__(self, line_number, name, klass, options, parameters):
        self.line_number = line_number
        self.name = name
        self.klass = klass
        self.options = options
        self.parameters = parameters

    def option(self, prefix):
        for option in self.options:
            if option.startswith(prefix):
                return option[len(prefix):]
        return None


def split_parameters(text):
    depth, start, parts = 0, 0, []
    for i, char in enumerate(text):
        depth += char in "([{"
        depth -= char in ")]}"
        if char == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return [p.strip() for p in parts if p.strip()]


# Words that belong to a type and are never a parameter's name.
TYPE_WORDS = {"void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "const", "volatile",
              "_Bool", "_Complex", "struct", "union", "enum"}


def parse_parameter(text, position):
    """Returns (type with '@' for the name, name)."""
    if text in ("void", "..."):
        return text, text
    unnamed = f"unnamed{position}"
    pointer = re.match(r"([^()]*\(\s*\*\s*)([A-Za-z_]\w*)?(.*)", text, re.S)
    if pointer:
        return f"{pointer.group(1)}@{pointer.group(3)}", pointer.group(2) or unnamed
    match = re.fullmatch(r"(.*?)(\b[A-Za-z_]\w*)?\s*((?:\[[^\]]*\]\s*)*)", text, re.S)
    before, name, arrays = match.group(1), match.group(2), match.group(3)
    words = before.split()
    if not name or name in TYPE_WORDS or not words or words[-1] in ("struct", "union", "enum") \
            or set(words) <= {"const", "volatile"}:
        return f"{before}{name or ''} @{arrays}", unnamed
    return f"{before}@{arrays}", name


def without_attributes(text):
    """Cuts every __attribute__((...)) out, whatever brackets and strings are in it."""
    parts = []
    while True:
        head, found, tail = text.partition("__attribute__")
        parts.append(head)
        text, depth = "", 0
        for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[()]', tail):
            depth += {"(": 1, ")": -1}.get(token.group(), 0)
            if depth == 0:
                text = tail[token.end():]
                break
        if not found:
            return " ".join(parts)


def parse_header(text):
    text = re.sub(r"\s+", " ", without_attributes(text))
    declared = {}
    pattern = r"([A-Za-z_][A-Za-z0-9_ ]*[\s*]+)(P?MPIX?_[A-Za-z0-9_]+)\s*\(([^;{}]*)\)\s*;"
    for match in re.finditer(pattern, text):
        result = match.group(1).replace("extern", "").strip()
        if "typedef" in result or "return" in result:
            continue
        pairs = [parse_parameter(p, i) for i, p in enumerate(split_parameters(match.group(3)))]
        types = [p[0] for p in pairs]
        names = [p[1] for p in pairs]
        declared[match.group(2)] = Function(match.group(2), result, types, names)
    return [f for n, f in declared.items() if n.startswith("MPI") and "P" + n in declared]


def parse_table(text, path):
    rows = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        head, colon, tail = line.partition(":")
        words = head.split()
        if not colon or len(words) < 2:
            sys.exit(f"{path}:{number}: expected NAME CLASS [OPTION ...] : [PARAMETER ...]")
        if words[0] in rows:
            sys.exit(f"{path}:{number}: {words[0]} is there twice")
        if words[1] in NEEDED_OPTIONS and not re.fullmatch(NEEDED_OPTIONS[words[1]], " ".join(words[2:])):
            sys.exit(f"{path}:{number}: {words[0]}: wrong options for class {words[1]}; see the head of the table")
        rows[words[0]] = Row(number, words[0], words[1], words[2:], tail.split())
    return rows


def argument_list(names):
    return ", ".join(n for n in names if n not in ("void", "..."))


def send_mode(row):
    return f"SendMode::{row.options[0]}"


def collective_data(parameters):
    """What a member sends and where it receives: CollectiveData, by the standard's names."""
    if "buffer" in parameters:
        return "{{buffer, count, datatype}, {buffer, count, datatype}}"
    sent = "{sendbuf, sendcount, sendtype}" if "sendcount" in parameters else "{}"
    received = "{}"
    if "recvcount" in parameters:
        received = "{recvbuf, recvcount, " + ("recvtype}" if "recvtype" in parameters else "datatype}")
    elif "recvbuf" in parameters and "count" in parameters:
        received = "{recvbuf, count, datatype}"
    return f"{{{sent}, {received}}}"


def body(function, row, names, suffix):
    """The call into src/capture that the wrapper consists of."""
    fn = f"Fn::{function.name}"
    args = argument_list(names)
    real = f"[&] {{ return P{function.name}({args}); }}"
    klass = row.klass if row else "generic"
    if klass == "untreated" and "sync" in row.options:
        return f"synchronising({fn}, comm, {real})"
    if klass in ("generic", "untreated"):
        return f"generic({fn}, {real})"
    if klass == "send":
        post = row.option("post=") + suffix
        return (f"send({fn}, {send_mode(row)}, {{buf, count, datatype}}, dest, tag, comm, {real}, "
                f"[&](MPI_Request* r) {{ return P{post}(buf, count, datatype, dest, tag, comm, r); }})")
    if klass == "isend":
        return f"isend({fn}, {send_mode(row)}, {{buf, count, datatype}}, dest, tag, comm, request, {real})"
    if klass == "recv":
        return (f"recv({fn}, {{buf, count, datatype}}, source, tag, comm, status, "
                f"[&](MPI_Status* s) {{ return PMPI_Recv{suffix}(buf, count, datatype, source, tag, comm, s); }}, "
                f"[&](MPI_Request* r) {{ return PMPI_Irecv{suffix}(buf, count, datatype, source, tag, comm, r); }})")
    if klass == "irecv":
        return f"irecv({fn}, {{buf, count, datatype}}, source, tag, comm, request, {real})"
    if klass == "sendrecv":
        return (f"sendrecv({fn}, {{sendbuf, sendcount, sendtype}}, dest, sendtag, {{recvbuf, recvcount, recvtype}}, "
                f"source, recvtag, comm, status, "
                f"[&](MPI_Status* s) {{ return PMPI_Sendrecv{suffix}(sendbuf, sendcount, sendtype, dest, sendtag, "
                f"recvbuf, recvcount, recvtype, source, recvtag, comm, s); }}, "
                f"[&](MPI_Request* r) {{ return PMPI_Isend{suffix}(sendbuf, sendcount, sendtype, dest, sendtag, comm, r); }}, "
                f"[&](MPI_Request* r) {{ return PMPI_Irecv{suffix}(recvbuf, recvcount, recvtype, source, recvtag, comm, r); }})")
    if klass == "sendrecv_replace":
        return (f"sendrecv_replace({fn}, {{buf, count, datatype}}, dest, sendtag, source, recvtag, comm, status, "
                f"[&](MPI_Status* s) {{ return PMPI_Sendrecv_replace{suffix}(buf, count, datatype, dest, sendtag, "
                f"source, recvtag, comm, s); }}, "
                f"[&](MPI_Request* r) {{ return PMPI_Irecv{suffix}(buf, count, datatype, source, recvtag, comm, r); }})")
    if klass == "send_init":
        return f"send_init({fn}, {send_mode(row)}, {{buf, count, datatype}}, dest, tag, comm, request, {real})"
    if klass == "recv_init":
        return f"recv_init({fn}, {{buf, count, datatype}}, source, tag, comm, request, {real})"
    if klass in ("psend_init", "precv_init"):
        partner = "dest" if klass == "psend_init" else "source"
        return (f"{klass}({fn}, partitions, message_bytes(count, datatype), {partner}, tag, comm, request, {real})")
    if klass.startswith("pready"):
        ready = {"pready": "1", "pready_range": "partition_high - partition_low + 1", "pready_list": "length"}[klass]
        return f"pready({fn}, {ready}, request, {real})"
    if klass == "parrived":
        return f"parrived({fn}, request, flag, {real})"
    if klass == "mrecv":
        return (f"mrecv({fn}, {{buf, count, datatype}}, message, status, "
                f"[&](MPI_Status* s) {{ return PMPI_Mrecv{suffix}(buf, count, datatype, message, s); }})")
    if klass == "imrecv":
        return f"imrecv({fn}, {{buf, count, datatype}}, message, request, {real})"
    if klass in ("collective", "icollective", "collective_init"):
        root = "root" if "root" in row.parameters else "-1"
        request = "" if klass == "collective" else "request, "
        call = rule_call("size", "shape", row.option("bytes="))
        pieces = [rule_call("piece", "i", rule) for rule in (row.option("between=") or "none").split("|")]
        counts = rule_call("counts", "parts, shape", row.option("counts=") or "none")
        counts = f"[&](const mpi_api::CommShape& shape, trace::Counts& parts) {{ {counts}; }}, "
        reduces = ""
        if klass == "collective":
            reduces = "{op, datatype}, " if "op" in row.parameters else "{}, "
            reduces += collective_data(row.parameters) + ", "
        piece = f"root == MPI_ROOT ? {pieces[0]} : {pieces[1]}" if len(pieces) == 2 else pieces[0]
        return (f"{klass}({fn}, Cost::{row.options[0]}, comm, {root}, "
                f"[&](const mpi_api::CommShape& shape) {{ (void)shape; return {call}; }}, {counts}{reduces}"
                f"[&](int i) {{ (void)i; return {piece}; }}, {request}{real})")
    if klass in ("neighbor", "ineighbor", "neighbor_init"):
        request = "" if klass == "neighbor" else "request, "
        sizes = "".join(f"[&](int i) {{ (void)i; return {rule_call('piece', 'i', row.option(way))}; }}, "
                        for way in ("out=", "in="))
        return f"{klass}({fn}, comm, {sizes}{request}{real})"
    if klass == "intercomm_create":
        return f"intercomm_create({fn}, comm, newcomm, {real})"
    if klass == "comm_create_group":
        return f"comm_create_group({fn}, group, newcomm, {real})"
    if klass in ("win_create", "file_open"):
        return f"{klass}({fn}, comm, {'win' if klass == 'win_create' else 'fh'}, {real})"
    if klass == "win_fence":
        return f"win_fence({fn}, win, {real})"
    if klass == "file_collective":
        moved = "message_bytes(count, datatype)" if "count" in row.parameters else "Bytes()"
        return f"file_collective({fn}, fh, {row.options[0]}, {moved}, {real})"
    if klass == "win_access":
        count = "count" if "count" in row.parameters else "1"
        request = "request" if "request" in row.parameters else "nullptr"
        into = "result_addr" if "result_addr" in row.parameters else "origin_addr"
        no_op = "op == MPI_NO_OP" if "op" in row.parameters else "false"
        return (f"win_access({fn}, OneSided::{row.options[0]}, win, target_rank, {{target_disp, {into}, {no_op}}}, "
                f"message_bytes({count}, datatype), {request}, {real})")
    if klass == "win_flush":
        target = "rank" if "rank" in row.parameters else "kAllTargets"
        return f"win_flush({fn}, OneSided::{row.options[0]}, win, {target}, {real})"
    if klass == "win_lock":
        asked = "lock_type, rank" if "rank" in row.parameters else "MPI_LOCK_SHARED, kAllTargets"
        return f"win_lock({fn}, {asked}, assertion, win, {real})"
    if klass == "win_unlock":
        return f"win_unlock({fn}, {'rank' if 'rank' in row.parameters else 'kAllTargets'}, win, {real})"
    if klass == "op_create":
        return (f"op_create({fn}, function, "
                f"[&](auto* measured) {{ return P{function.name}(measured, commute, op); }})")
    if klass == "reduce_local":
        return f"reduce_local({fn}, message_bytes(count, datatype), {{op, datatype}}, {real})"
    if klass == "file_access":
        return f"file_access({fn}, fh, message_bytes(count, datatype), {real})"
    if klass == "comm_idup":
        return f"comm_idup({fn}, comm, newcomm, request, {real})"
    if klass == "isendrecv":
        return (f"isendrecv({fn}, {{sendbuf, sendcount, sendtype}}, dest, sendtag, {{recvbuf, recvcount, recvtype}}, "
                f"source, recvtag, comm, request, {real})")
    if klass == "isendrecv_replace":
        return (f"isendrecv({fn}, {{buf, count, datatype}}, dest, sendtag, {{buf, count, datatype}}, source, recvtag, "
                f"comm, request, {real})")
    if klass in ("set_attribute", "delete_attribute"):
        return f"{klass}({fn}, comm, keyval, {real})"
    if klass == "comm_create":
        return f"comm_create({fn}, Cost::{row.options[0]}, comm, newcomm, {real})"
    # All others take the function's own arguments and the real call.
    return f"{klass}({fn}{', ' + args if args else ''}, {real})"


# Classes whose rows hold for the non-blocking and the persistent form too.
IN_THREE_FORMS = ("collective", "neighbor")


def posted_form(rows, name):
    """The row of MPI_Ix, MPI_X_init or MPIX_X_init made from that of MPI_X; None: there is none."""
    if name.endswith("_init"):
        row, klass, extra = rows.get(re.sub("^MPIX_", "MPI_", name[:-5])), "{}_init", ["info", "request"]
    elif name.startswith("MPI_I"):
        row, klass, extra = rows.get("MPI_" + name[5:].capitalize()), "i{}", ["request"]
    else:
        return None
    if row is None or row.klass not in IN_THREE_FORMS:
        return None
    return Row(row.line_number, name, klass.format(row.klass), row.options, row.parameters + extra)


def find_row(rows, name):
    """The row of a function and the suffix of its large-count form."""
    plain, suffix = (name[:-2], "_c") if name.endswith("_c") and name not in rows else (name, "")
    row = rows.get(plain) or posted_form(rows, plain)
    return (row, suffix) if row else (None, "")


def wrapper(function, rows, path):
    row, suffix = find_row(rows, function.name)
    names = list(function.names)
    if row and (row.klass != "untreated" or "sync" in row.options):
        count = 0 if function.types == ["void"] else len(names)
        if count != len(row.parameters):
            sys.exit(f"{path}:{row.line_number}: {function.name} has {count} parameters in mpi.h, "
                     f"{len(row.parameters)} here")
        if row.parameters:
            names = list(row.parameters)
    return (f'extern "C" FORETRACE_EXPORT {function.result} {function.name}({function.signature(names)}) {{\n'
            f"{profile_wrapper.measured(function, row, names)}"
            f"  capture::note_call({profile_wrapper.CALL_POINT});\n"
            f"  return capture::{body(function, row, names, suffix)};\n}}\n")


def names_of(function, rows):
    """The arguments' names: the table's, which are the standard's, or the header's own."""
    row, _ = find_row(rows, function.name)
    return row.parameters if row and len(row.parameters) == len(function.names) else function.names


def signature_row(function, rows):
    names = names_of(function, rows)
    strings = [function.name, function.result, function.signature(names), argument_list(names)]
    return "FORETRACE_SIGNATURE(" + ", ".join(f'"{" ".join(s.split())}"' for s in strings) + ")\n"


# The Fortran library converts handles and statuses all the time, for itself.
CONVERSION = r"_(c|f|f08)2(c|f|f08)$"


def fortran_call(function):
    """Called in place of PMPI_X by the Fortran library: the wrapper if the program called X."""
    args = argument_list(function.names)
    return (f"static {function.result} fortran_{function.name}({function.signature(function.names)}) {{\n"
            f'  if (capture::is_programs_call("{function.name}", __builtin_return_address(0)))\n'
            f"    return {function.name}({args});\n"
            f"  return P{function.name}({args});\n}}\n")


def fortran_table(functions):
    rows = "".join(f'    {{"{f.name}", reinterpret_cast<void*>(fortran_{f.name})}},\n' for f in functions)
    return f"static const capture::FortranCall kFortranCalls[] = {{\n{rows}}};\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--header", required=True, type=pathlib.Path)
    parser.add_argument("--table", required=True, type=pathlib.Path)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    rows = parse_table(arguments.table.read_text(), arguments.table)
    functions = sorted(parse_header(arguments.header.read_text()), key=lambda f: f.name)
    if not functions:
        sys.exit(f"{arguments.header}: no MPI functions found; is it a preprocessed mpi.h?")
    arguments.output.mkdir(parents=True, exist_ok=True)
    with open(arguments.output / "mpi_functions.inc", "w") as out:
        for function in functions:
            row, _ = find_row(rows, function.name)
            out.write(f"FORETRACE_FUNCTION({function.name}, {row.klass if row else 'generic'})\n")
    with open(arguments.output / "mpi_signatures.inc", "w") as out:
        out.write("".join(signature_row(f, rows) for f in functions))
    with open(arguments.output / "mpi_wrappers.inc", "w") as out:
        # mpi.h may declare what the MPI's C library does not hold (MPICH keeps
        # MPI_Status_c2f08 with Fortran): that must not stop the library from
        # loading when all symbols are bound at once.
        out.write("".join(f"#pragma weak P{f.name}\n" for f in functions) + "\n")
        out.write("\n".join(wrapper(f, rows, arguments.table) for f in functions))
    with open(arguments.output / "mpi_fortran.inc", "w") as out:
        functions = [f for f in functions if not re.search(CONVERSION, f.name)]
        out.write("\n".join(fortran_call(f) for f in functions) + "\n" + fortran_table(functions))


if __name__ == "__main__":
    main()
