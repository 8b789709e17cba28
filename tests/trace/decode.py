#!/usr/bin/env python3
"""decode.py FILE: prints a trace, decoded from docs/trace-format.md alone.

Written from the document, without a look at the code, so that the two can be
held against each other. The first line says what the trace says of itself; then
one line an event, rank by rank:

    RANK kind=N name=TEXT compute=PS steps=HEX enter=PS leave=PS wait=PS [comm=KEY:MEMBER.MEMBER.] [site=OBJECT+OFFSET] FIELDS

FIELDS, by kind: send=MODE,PEER,TAG,BYTES recv=WILD,PEER,TAG,BYTES request=N
done=REQUEST,CANCELLED,SOURCE,TAG,BYTES collective=WHICH,BYTES,ROOT count=N code=N
taken=N moves=PEER,BYTES value=HEX.
Last, `damage rank=N` for every stream that is cut off.
"""

import json
import struct
import sys

SEND, RECV, SENDRECV, ISEND, IRECV, COMPLETE, COLLECTIVE, CALL, ABORTED = 3, 4, 5, 6, 7, 8, 9, 10, 13
ICOLLECTIVE, MARK, PROBE = 14, 15, 16
HAS_SITE, HAS_TAKEN, HAS_MOVE = 1, 2, 4
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

    def string(self):
        return self.take(self.varint()).decode()


class Rank:
    """A rank's stream: what it has defined, and its clock."""

    def __init__(self, number, data, clock, version):
        self.number = number
        self.version = version
        self.bytes = Bytes(data)
        self.clock = clock
        self.names = []
        self.comms = []
        self.sites = [""]
        self.cpu = 0
        self.leave = 0

    def define_comm(self):
        b = self.bytes
        key, size = b.varint(), b.varint()
        members = []
        while len(members) < size:
            first, stride, count = b.svarint(), b.svarint(), b.varint()
            members += [first + i * stride for i in range(count)]
        self.comms.append(f"{key}:" + "".join(f"{m}." for m in members))

    def send(self):
        b = self.bytes
        comm = b.varint()
        return comm, f" send={b.u8()},{b.svarint()},{b.svarint()},{b.varint()}"

    def recv(self, rare=0):
        b = self.bytes
        comm = b.varint()
        text = f" recv={b.u8()},{b.svarint()},{b.svarint()},{b.varint()}"
        return comm, text + (f" taken={b.varint()}" if rare & HAS_TAKEN else "")

    def completions(self):
        b = self.bytes
        text = ""
        for _ in range(b.varint()):
            request, flags = b.varint(), b.u8()
            source, tag, size = (b.svarint(), b.svarint(), b.varint()) if flags & 1 else (-1, 0, 0)
            text += f" done={request},{flags >> 1 & 1},{source},{tag},{size}"
        return text

    def call(self, rare):
        b = self.bytes
        text = f" count={b.varint()}"
        if not rare & HAS_MOVE:
            return None, text
        return b.varint(), f"{text} moves={b.svarint()},{b.varint()}"

    def body(self, kind, rare):
        """Returns (communicator or None, text)."""
        b = self.bytes
        if kind == SEND:
            return self.send()
        if kind == RECV:
            return self.recv(rare)
        if kind == SENDRECV:
            (comm, sent), (_, received) = self.send(), self.recv()
            return comm, sent + received
        if kind in (ISEND, IRECV, PROBE):
            request = b.varint()
            comm, text = self.send() if kind == ISEND else self.recv(rare)
            return comm, f" request={request}{text}"
        if kind == COMPLETE:
            return None, self.completions()
        if kind in (COLLECTIVE, ICOLLECTIVE):
            text = f" request={b.varint()}" if kind == ICOLLECTIVE else ""
            comm = b.varint()
            return comm, f"{text} collective={b.u8()},{b.varint()},{b.svarint()}"
        if kind == CALL:
            return self.call(rare)
        if kind == ABORTED:
            return None, f" code={b.svarint()}"
        if kind == MARK:
            return None, f" value={struct.unpack('<Q', b.take(8))[0]:016x}"
        return None, ""

    def event(self, head):
        b = self.bytes
        kind = head & 0x3F
        rare = b.u8() if self.version >= 2 else 0
        name = b.varint()
        site = b.varint() if rare & HAS_SITE else 0
        compute = b.varint()
        steps = b.take(8) if head & 0x40 else bytes(8)
        cpu = self.cpu + compute
        if self.clock == "cpu":
            enter = leave = cpu
        else:
            enter = self.leave + b.varint()
            leave = enter + b.varint()
        wait = b.varint() if head & 0x80 else 0
        comm, text = self.body(kind, rare)
        self.cpu, self.leave = cpu, leave
        where = "" if comm is None else f" comm={self.comms[comm]}"
        if site:
            where += f" site={self.sites[site]}"
        return (f"{self.number} kind={kind} name={self.names[name]} compute={compute} "
                f"steps={struct.unpack('<Q', steps)[0]:016x} enter={enter} leave={leave} wait={wait}"
                f"{where}{text}")

    def lines(self):
        """Yields the lines of the whole records; raises CutOff after them."""
        while self.bytes.at < len(self.bytes.data):
            head = self.bytes.u8()
            if head == 32:
                self.names.append(self.bytes.string())
            elif head == 33:
                self.define_comm()
            elif head == 34:
                offset = self.bytes.varint()
                self.sites.append(f"{self.bytes.string()}+{offset}")
            else:
                yield self.event(head)


def decode(data):
    magic, version, ranks = struct.unpack_from("<8sII", data)
    assert magic == b"FORETRC\n" and version in (1, 2)
    streams, info, sealed = [b""] * ranks, None, False
    at = 4096
    while at + 16 <= len(data):
        magic, rank, size, used = struct.unpack_from("<4sIII", data, at)
        assert magic == b"FTB1", f"no block at {at}"
        payload = data[at + 16:at + 16 + used]
        if rank != NO_RANK:
            streams[rank] += payload
        elif info is None:
            info = json.loads(payload)
        elif payload == b"END\0":
            sealed = True
        at += 16 + size
    lines = [f"ranks={info['ranks']} clock={info['clock']} sealed={int(sealed)} " +
             " ".join(f"{k}={info[k]}" for k in ("program", "origin", "machine", "options", "mpi"))]
    damage = []
    for number, stream in enumerate(streams):
        rank = Rank(number, stream, info["clock"], version)
        try:
            for line in rank.lines():
                lines.append(line)
        except CutOff:
            damage.append(f"damage rank={number}")
    return lines + damage


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        print("\n".join(decode(file.read())))
