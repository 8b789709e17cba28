#!/usr/bin/env python3
"""decode.py FILE: prints a trace, decoded from docs/trace-format.md alone.

Written from the document, without a look at the code, so that the two can be
held against each other. The first line says what the trace says of itself; then
one line an event, rank by rank:

    RANK kind=N name=TEXT compute=PS steps=HEX enter=PS leave=PS wait=PS [comm=KEY:MEMBER.MEMBER.] [site=OBJECT+OFFSET] FIELDS

FIELDS, by kind: send=MODE,PEER,TAG,BYTES recv=WILD,PEER,TAG,BYTES request=N
done=REQUEST,CANCELLED,SOURCE,TAG,BYTES collective=WHICH,BYTES,ROOT counts=N.N.N count=N code=N
taken=N moves=PEER,BYTES value=HEX reduction=N (call: reduction=N,BYTES)
untouched piece=BYTES join=BACK,ENTERED,AFTER,HELD[,HEX,HEX].
Last, `open rank=N NAME [site=OBJECT+OFFSET]` for every rank that was in a call, and `damage rank=N` for every stream that is cut off.
"""

import json
import struct
import sys

SEND, RECV, SENDRECV, ISEND, IRECV, COMPLETE, COLLECTIVE, CALL, ABORTED = 3, 4, 5, 6, 7, 8, 9, 10, 13
ICOLLECTIVE, MARK, PROBE, PROBE_THAT_LEAVES = 14, 15, 16, 17
NO_RANK = 0xFFFFFFFF


class CutOff(Exception):
    """The file ends inside a record."""


class Bytes:
    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, count):
        if self.at + count > len(self.data):
            raise CutOff
        self.at += count
        return self.data[self.at - count:self.at]

    def u8(self):
        return self.take(1)[0]

    def varint(self):
        value, shift = 0, 0
        while True:
            byte = self.u8()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def svarint(self):
        value = self.varint()
        return -(value + 1) // 2 if value % 2 else value // 2

    def time(self):
        value = self.varint()
        return value >> 1 if value & 1 else (value >> 1) * 1000

    def stime(self):
        value = self.varint()
        number = value >> 1
        number = -(number + 1) // 2 if number % 2 else number // 2
        return number if value & 1 else number * 1000

    def string(self):
        return self.take(self.varint()).decode()


class Rank:
    """A rank's stream: what it has defined, and its clock."""

    def __init__(self, number, data, clock):
        self.number = number
        self.bytes = Bytes(data)
        self.clock = clock
        self.names = []
        self.comms = []
        self.sites = [""]
        self.shapes = {}
        self.counts = {}
        self.cpu = 0
        self.leave = 0
        self.posted = 0

    def define_comm(self):
        b = self.bytes
        key, size = b.varint(), b.varint()
        members = []
        while len(members) < size:
            first, stride, count = b.svarint(), b.svarint(), b.varint()
            members += [first + i * stride for i in range(count)]
        self.comms.append(f"{key}:" + "".join(f"{m}." for m in members))

    def define_counts(self):
        b = self.bytes
        number, size = b.varint(), b.varint()
        counts = []
        while len(counts) < size:
            repeated = b.varint()
            counts += [b.varint()] * repeated
        self.counts[number] = counts

    def endpoint(self, what):
        """Returns (communicator, text) of the fields of send or of recv."""
        b = self.bytes
        comm = b.varint()
        how = b.u8()
        text = f" {what}={how & 0x3f},{b.svarint()},{b.svarint()},{b.varint()}"
        text += " untouched" if what == "send" and how & 0x80 else ""
        return comm, text + (f" piece={b.varint()}" if how & 0x40 else "")

    def completions(self, request):
        b = self.bytes
        done = []
        for _ in range(b.varint()):
            number, flags = request(), b.u8()
            source, tag, size = (b.svarint(), b.svarint(), b.varint()) if flags & 1 else (-1, 0, 0)
            done.append((number, f",{flags >> 1 & 1},{source},{tag},{size}"))
        return done

    def collective(self):
        b = self.bytes
        comm = b.varint()
        which = b.u8()
        untouched = " untouched" if which & 0x80 else ""
        return comm, f" collective={which & 0x7f},{b.varint()},{b.svarint()}{untouched}"

    def line(self, kind, name, compute, steps, enter, leave, wait, comm, site, text):
        where = "" if comm is None else f" comm={self.comms[comm]}"
        if site:
            where += f" site={self.sites[site]}"
        self.leave = leave
        return (f"{self.number} kind={kind} name={self.names[name]} compute={compute} "
                f"steps={struct.unpack('<Q', steps)[0]:016x} enter={enter} leave={leave} wait={wait}"
                f"{where}{text}")

    def shape(self):
        """What a shape says; the requests stay distances."""
        b = self.bytes
        first, second = b.u8(), b.u8()
        kind = first & 0x1F
        shape = {"first": first, "second": second, "kind": kind, "name": b.varint(), "comm": None,
                 "posts": None, "taken": None, "done": [], "text": "", "counts": None}
        shape["site"] = b.varint() if second & 0x01 else 0
        shape["alone"] = b.stime() if second & 0x20 else None
        if kind in (ISEND, IRECV, ICOLLECTIVE, PROBE):
            shape["posts"] = b.svarint()
        if kind in (SEND, ISEND, SENDRECV):
            shape["comm"], shape["text"] = self.endpoint("send")
        if kind in (RECV, IRECV, SENDRECV, PROBE, PROBE_THAT_LEAVES):
            shape["comm"], text = self.endpoint("recv")
            shape["text"] += text
        if first & 0x40 and kind in (RECV, IRECV):
            shape["taken"] = b.svarint()
        if kind == COMPLETE:
            shape["done"] = self.completions(b.svarint)
        if kind in (COLLECTIVE, ICOLLECTIVE):
            shape["comm"], shape["text"] = self.collective()
            if first & 0x40:
                shape["counts"] = b.varint()
            if second & 0x40:
                shape["text"] += f" reduction={b.u8()}"
        if second & 0x40 and kind == CALL:
            shape["text"] = f" reduction={b.u8()},{b.varint()}"
        elif first & 0xC0 and kind == CALL:
            shape["comm"] = b.varint()
            moves = f" moves={b.svarint()},{b.varint()}"
            shape["text"] = moves if first & 0x80 else ""
            if first & 0x40:
                action = b.u8()
                if action & 0x80:
                    shape["posts"] = b.svarint()
                shape["text"] += f" one_sided={action & 0x7F}"
        if kind == ABORTED:
            shape["text"] = f" code={b.svarint()}"
        return shape

    def requests(self, shape):
        """The texts before and after the fields; numbers are modulo 2^64."""
        before = after = ""
        if shape["taken"] is not None:
            after = f" taken={(self.posted - shape['taken']) % 2**64}"
        if shape["posts"] is not None:
            self.posted = (self.posted + 1 + shape["posts"]) % 2**64
            before = f" request={self.posted}"
        if shape["counts"] is not None:
            after = " counts=" + ".".join(str(n) for n in self.counts[shape["counts"]])
        for distance, rest in shape["done"]:
            after += f" done={(self.posted - distance) % 2**64}{rest}"
        return before, after

    def event(self, shape):
        b = self.bytes
        first, second, kind = shape["first"], shape["second"], shape["kind"]
        compute = b.time() if second & 0x02 else 0
        steps = b.take(8) if second & 0x04 else bytes(8)
        gap = b.stime() if second & 0x10 else 0
        alone = shape["alone"]
        if alone is None:
            alone = 0 if self.clock == "cpu" else b.stime()
        wait = b.time() if second & 0x08 else 0
        varies = ""
        if kind == CALL:
            varies = f" count={b.varint() if first & 0x20 else 1}"
        elif kind == MARK:
            value = b.take(8) if first & 0x20 else bytes(8)
            varies = f" value={struct.unpack('<Q', value)[0]:016x}"
        elif first & 0x20:
            varies = f" count={b.varint()}"
        self.cpu += compute
        if self.clock == "cpu":
            enter = leave = self.cpu
        else:
            enter = self.leave + compute + gap
            leave = enter + alone + wait
        before, after = self.requests(shape)
        return self.line(kind, shape["name"], compute, steps, enter, leave, wait, shape["comm"],
                         shape["site"], varies + before + shape["text"] + after)

    def lines(self):
        """Yields the lines of the whole records; raises CutOff after them."""
        b = self.bytes
        join = ""
        while b.at < len(b.data):
            head = b.varint()
            if head == 1:
                self.names.append(b.string())
            elif head == 2:
                self.define_comm()
            elif head == 3:
                offset = b.varint()
                self.sites.append(f"{b.string()}+{offset}")
            elif head == 4:
                number = b.varint()
                self.shapes[number] = self.shape()
            elif head == 5:
                yield self.event(self.shape()) + join
                join = ""
            elif head == 6:
                self.define_counts()
            elif head == 7:
                which = b.varint()
                join += f" join={which // 4},{which % 2},{b.time()},{b.time()}"
                for _ in range(2 if which & 2 else 0):
                    join += f",{struct.unpack('<Q', b.take(8))[0]:016x}"
            else:
                yield self.event(self.shapes[head - 8]) + join
                join = ""


class RankOfVersion1(Rank):
    """As it was before there were shapes."""

    def body(self, kind):
        """Returns (communicator or None, text)."""
        b = self.bytes
        request = f" request={b.varint()}" if kind in (ISEND, IRECV, ICOLLECTIVE) else ""
        if kind in (SEND, ISEND):
            comm, text = self.endpoint("send")
            return comm, request + text
        if kind in (RECV, IRECV):
            comm, text = self.endpoint("recv")
            return comm, request + text
        if kind == SENDRECV:
            (comm, sent), (_, received) = self.endpoint("send"), self.endpoint("recv")
            return comm, sent + received
        if kind == COMPLETE:
            return None, "".join(f" done={n}{rest}" for n, rest in self.completions(b.varint))
        if kind in (COLLECTIVE, ICOLLECTIVE):
            comm, text = self.collective()
            return comm, request + text
        if kind == CALL:
            return None, f" count={b.varint()}"
        if kind == ABORTED:
            return None, f" code={b.svarint()}"
        return None, ""

    def event_after(self, head):
        b = self.bytes
        kind = head & 0x3F
        name, compute = b.varint(), b.varint()
        steps = b.take(8) if head & 0x40 else bytes(8)
        cpu = self.cpu + compute
        if self.clock == "cpu":
            enter = leave = cpu
        else:
            enter = self.leave + b.varint()
            leave = enter + b.varint()
        wait = b.varint() if head & 0x80 else 0
        comm, text = self.body(kind)
        self.cpu = cpu
        return self.line(kind, name, compute, steps, enter, leave, wait, comm, 0, text)

    def lines(self):
        while self.bytes.at < len(self.bytes.data):
            head = self.bytes.u8()
            if head == 32:
                self.names.append(self.bytes.string())
            elif head == 33:
                self.define_comm()
            else:
                yield self.event_after(head)


def decode_old_blocks(data, version, ranks):
    """Of versions 1 and 2: (payloads, open calls, info, sealed, ranks that are cut off)."""
    streams, opened, info, sealed = [b""] * ranks, [(0, 0)] * ranks, None, False
    at, header = 4096, 16 if version == 1 else 24
    while at + header <= len(data):
        magic, rank, size, used = struct.unpack_from("<4sIII", data, at)
        assert magic == b"FTB1", f"no block at {at}"
        payload = data[at + header:at + header + used]
        if rank != NO_RANK:
            streams[rank] += payload
            opened[rank] = struct.unpack_from("<II", data, at + 16) if version > 1 else (0, 0)
        elif info is None:
            info = json.loads(payload)
        elif payload == b"END\0":
            sealed = True
        at += header + size
    return streams, opened, info, sealed, set()


def decode_blocks(data, ranks):
    """Of versions 3 to 8; checksums are not looked at."""
    streams, opened, info, states = [b""] * ranks, [(0, 0)] * ranks, None, [None] * ranks
    length = struct.unpack_from("<Q", data, 16)[0]
    at = 4096
    while at + 40 <= len(data):
        magic, rank, number, size, _, used, state, call, site, _ = struct.unpack_from("<4s9I", data, at)
        assert magic == b"FTB3", f"no block at {at}"
        payload = data[at + 40:at + 40 + used]
        if rank != NO_RANK:
            streams[rank] += payload
            opened[rank] = (call, site)
            states[rank] = state if len(payload) == used else 1
        else:
            info = json.loads(payload)
        at += 40 + size
    missing = {rank for rank in range(ranks) if states[rank] == 1 or (length and states[rank] is None)}
    return streams, opened, info, length != 0, missing


def decode(data):
    magic, version, ranks = struct.unpack_from("<8sII", data)
    assert magic == b"FORETRC\n" and version in (1, 2, 3, 4, 5, 6, 7, 8)
    streams, opened, info, sealed, missing = \
        decode_old_blocks(data, version, ranks) if version < 3 else decode_blocks(data, ranks)
    lines = [f"ranks={info['ranks']} clock={info['clock']} sealed={int(sealed)} " +
             " ".join(f"{k}={info[k]}" for k in ("program", "origin", "machine", "options", "mpi"))]
    last, damage = [], [f"damage rank={rank}" for rank in sorted(missing)]
    for number, stream in enumerate(streams):
        rank = (RankOfVersion1 if version == 1 else Rank)(number, stream, info["clock"])
        try:
            for line in rank.lines():
                lines.append(line)
        except CutOff:
            if number not in missing:
                damage.append(f"damage rank={number}")
        name, site = opened[number]
        if name:
            last.append(f"open rank={number} {rank.names[name - 1]}{f' site={rank.sites[site]}' if site else ''}")
    return lines + last + damage


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        print("\n".join(decode(file.read())))
