// The channels of a run's messages, numbered as src/pyramid/before.hpp has it: a direction, a
// relative peer, a communicator and a tag.
import type { Shape } from "../events";

export interface ShapeChannels {
  readonly send: Uint32Array; // by shape; 0: none
  readonly recv: Uint32Array;
}

export function numberChannels(shapes: readonly Shape[]): ShapeChannels {
  const numbers = new Map<string, number>();
  const number = (...channel: [sends: number, peer: number, comm: number, tag: number]): number => {
    if (channel[1] < 0) return 0;
    const key = channel.join(" ");
    let known = numbers.get(key);
    if (known === undefined) numbers.set(key, (known = numbers.size + 1));
    return known;
  };
  const send = new Uint32Array(shapes.length);
  const recv = new Uint32Array(shapes.length);
  shapes.forEach((shape, i) => {
    send[i] = number(1, shape.sendPeer, shape.comm, shape.sendTag);
    recv[i] = number(0, shape.recvPeer, shape.comm, shape.recvTag);
  });
  return { send, recv };
}
