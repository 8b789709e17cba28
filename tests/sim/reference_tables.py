"""The tables of reference.py, from docs/theory.md."""

# What stands in for a function that the machine lacks (docs/theory.md).
STAND_INS = {
    "ssend": "send", "bsend": "send", "rsend": "send", "recv": "send", "recvmin": "recv",
    "isend1": "send", "isendoverlap": "isend2", "irecv2": "recv", "sendrecv": "recv",
    "scatter": "gather", "scatterv": "scatter", "gatherv": "gather", "allgatherv": "allgather",
    "alltoallv": "alltoall", "alltoallw": "alltoallv", "reduce_scatter": "allreduce",
    "reduce_scatter_block": "reduce_scatter", "scan": "reduce", "exscan": "scan",
    "put": "recv", "get": "recv", "accumulate": "put", "get_accumulate": "accumulate",
    "fetch_and_op": "accumulate", "compare_and_swap": "fetch_and_op",
}

# Accesses that carry their bytes to the target, and those that bring bytes from there.
OUT = ("put", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap")
BACK = ("get", "get_accumulate", "fetch_and_op", "compare_and_swap")

WAITS_FOR = {  # which starts a member of local rank i waits for, of n members
    "barrier": "all", "allgather": "all", "alltoall": "all", "allreduce": "all",
    "reduce_scatter_block": "all", "bcast": "root", "scatter": "root", "gather": "at root",
    "reduce": "at root", "scan": "prefix", "exscan": "prefix",
}
