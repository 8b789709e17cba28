"""What a generated wrapper does in mode profile (src/capture/profile/call.hpp):
make the real call, measure it, and tell what it moved. generate.py puts this in
front of the wrapper's part for the other modes. Its own names end in "_", which no
parameter's does.
"""

import re

from rules import rule_call

# Where the program called the wrapper (CallPoint of src/callers/stack_walk.hpp).
CALL_POINT = "__builtin_return_address(0), __builtin_dwarf_cfa()"

# They begin and end the profile.
UNMEASURED = ("init", "finalize", "abort")

# Their MPI_Request* is no new request.
OLD_REQUEST = ("wait", "test", "start", "cancel", "request_free")

# How many requests they wait for, by class.
COUNT_OF = {"wait": ("1", "request"), "waitall": ("count", "requests"), "waitany": ("count", "requests"),
            "waitsome": ("incount", "requests")}

# Their MPI_Comm* is no new communicator.
NOT_NEW = ("MPI_Comm_free", "MPI_Comm_disconnect", "MPI_Comm_get_parent")


def of_type(function, names, pattern):
    """The names of the parameters whose type matches."""
    return [n for t, n in zip(function.types, names) if re.fullmatch(pattern, re.sub(r"\s+", "", t))]


def moves(function, row, names, comm):
    """Statements that tell what the call moved; none: nothing that is known."""
    klass = row.klass if row else ""
    has = set(names).issuperset
    if klass in ("collective", "icollective"):
        size = rule_call("size", "shape", row.option("bytes="))
        return [f"call_.collective({comm}, [&](const mpi_api::CommShape& shape) "
                f"{{ (void)shape; return {size}; }});"]
    if klass in ("send", "isend"):
        return ["call_.sent(count, datatype, dest, comm);"]
    if klass == "recv":
        return ["call_.received(*seen_, source, comm);"]
    if klass == "mrecv":
        return ["call_.received(*seen_, 0, MPI_COMM_NULL);"]
    if klass == "irecv":
        return ["call_.expected(count, datatype, source, comm);"]
    if klass == "imrecv":
        return ["call_.moved(trace::Direction::received, count, datatype, MPI_COMM_NULL);"]
    if klass == "sendrecv":
        return ["call_.sent(sendcount, sendtype, dest, comm);", "call_.received(*seen_, source, comm);"]
    if klass == "sendrecv_replace":
        return ["call_.sent(count, datatype, dest, comm);", "call_.received(*seen_, source, comm);"]
    if klass in ("probe", "mprobe"):
        return ["call_.probed(*seen_, source, comm);"]
    if klass == "start":
        return ["call_.started(1, request);"]
    if klass == "startall":
        return ["call_.started(count, requests);"]
    if function.name.startswith("MPI_Isendrecv") and has(("dest", "comm")):
        what = "sendcount, sendtype" if "sendcount" in names else "count, datatype"
        return [f"call_.sent({what}, dest, comm);"]
    file_access = re.match(r"MPI_File_i?(read|write)", function.name)
    if file_access and has(("count", "datatype")):
        direction = "received" if file_access.group(1) == "read" else "sent"
        return [f"call_.moved(trace::Direction::{direction}, count, datatype, MPI_COMM_NULL);"]
    if has(("origin_count", "origin_datatype")):
        direction = "received" if re.match(r"MPI_R?[gG]et(_c)?$", function.name) else "sent"
        return [f"call_.moved(trace::Direction::{direction}, origin_count, origin_datatype, MPI_COMM_NULL);"]
    return []


def measured(function, row, names):
    """The statement in front of the wrapper's other part."""
    klass = row.klass if row else ""
    if klass in UNMEASURED:
        return ""
    first, before, after = [], [], []
    arguments = [n for n in names if n not in ("void", "...")]
    waits_for = COUNT_OF.get(klass)
    if klass in ("recv", "mrecv", "sendrecv", "sendrecv_replace", "probe", "mprobe", "wait") and "status" in names:
        before = ["MPI_Status own_;", "MPI_Status* const seen_ = status == MPI_STATUS_IGNORE ? &own_ : status;"]
        arguments = ["seen_" if n == "status" else n for n in arguments]
    comms = of_type(function, names, r"MPI_Comm@")
    comm = comms[0] if comms else "MPI_COMM_NULL"
    after += moves(function, row, names, comm)
    if comms and not after:
        after.append(f"call_.on({comm});")
    if waits_for and waits_for[1] in names:
        first.append(f"const capture::Sender awaited_ = capture::awaited({', '.join(waits_for)});")
        after.append(f"call_.waited(awaited_, {'seen_' if 'status' in names and klass == 'wait' else 'nullptr'});")
    if klass in ("irecv", "recv_init"):
        after.append("call_.posted(result_, request, source, comm);")
    elif klass not in OLD_REQUEST:
        after += [f"call_.posted_other(result_, {new});" for new in of_type(function, names, r"MPI_Request\*@")]
    if klass == "send_init":
        after.append("call_.prepared(result_, request, count, datatype, dest, comm);")
    if klass == "request_free":
        before.append("call_.freeing_request(request);")
    created = of_type(function, names, r"MPI_Comm\*@|MPI_Comm@\[\]")
    if function.name in ("MPI_Comm_free", "MPI_Comm_disconnect"):
        before.append(f"call_.freeing_comm({created[0]});")
    elif function.name not in NOT_NEW:
        waits = bool(of_type(function, names, r"MPI_Request\*@"))
        after += [f"call_.created_like(result_, {new}, {comm});" if waits else f"call_.created(result_, {new});"
                  for new in created]
    if function.name == "MPI_Comm_set_name":
        after.append(f"call_.named({names[0]}, {names[1]});")
    if function.name == "MPI_Pcontrol":
        after.append(f"call_.control({names[0]});")
    lines = [*first, f"capture::Measured call_(Fn::{function.name}, {CALL_POINT});",
             *before, f"const auto result_ = P{function.name}({', '.join(arguments)});", "call_.stop();",
             *after, "return result_;"]
    return "  if (capture::profiling) {\n" + "".join(f"    {line}\n" for line in lines) + "  }\n"
