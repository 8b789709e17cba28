"""Which calls of a schedule send and receive what, for reference_networks.py."""

import reference

ANY = "any"
SENDS = ("send", "isend", "sendrecv")
TWO_WAYS = ("access", "lock")
RECEIVES = ("recv", "irecv", "sendrecv")


class Schedule(reference.Schedule):
    """Pairs no messages if there are wildcard receives: that is decided in virtual time."""

    def pair_messages(self):
        calls = [call for rank in self.calls for _, call in rank]
        self.races = any(ANY in (call.get("from"), call.get("tag"), call.get("recv_tag"))
                         for call in calls)
        if not self.races:
            super().pair_messages()

    def destination(self, at):
        call = self.call(at)
        return self.comms[call["comm"]][call["to"]]

    def sends(self, at):
        call = self.call(at)
        return call["op"] in SENDS and call["to"] >= 0

    def goes_back(self, at):
        """An access or a lock: a message to the target, and one back."""
        return self.call(at)["op"] in TWO_WAYS

    def injects(self, at):
        return self.sends(at) or self.goes_back(at)

    def size(self, at):
        """Of the message to the destination."""
        call = self.call(at)
        if not self.goes_back(at):
            return call["bytes"]
        return call["bytes"] if call.get("what") in reference.OUT else 0

    def size_back(self, at):
        call = self.call(at)
        return call["bytes"] if call.get("what") in reference.BACK else 0

    def receives(self, at):
        call = self.call(at)
        return call["op"] in RECEIVES and (call["from"] == ANY or call["from"] >= 0)

    def fits(self, send, receive):
        out, back = self.call(send), self.call(receive)
        source = back["from"]
        tag = back["recv_tag"] if back["op"] == "sendrecv" else back["tag"]
        return (self.destination(send) == receive[0] and out["comm"] == back["comm"] and
                (source == ANY or self.comms[back["comm"]][source] == send[0]) and
                tag in (ANY, out["tag"]))
