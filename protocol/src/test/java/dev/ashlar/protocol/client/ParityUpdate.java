package dev.ashlar.protocol.client;

import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;

/** What a drive in memory knows of erasure codes. */
public interface ParityUpdate {
  /** For profiles with one parity shard, and the first of others: it is the XOR of the data. */
  ParityUpdate FIRST_PARITY =
      (profile, dataShard, parityRow, delta, parity) -> {
        if (parityRow > 0) {
          throw new IllegalArgumentException("give the store a code for parity " + parityRow);
        }
        for (int i = 0; i < delta.remaining(); i++) {
          int at = parity.position() + i;
          parity.put(at, (byte) (parity.get(at) ^ delta.get(delta.position() + i)));
        }
      };

  /** Adds to a parity shard's bytes what a change of one data shard by {@code delta} adds. */
  void apply(Profile profile, int dataShard, int parityRow, ByteBuffer delta, ByteBuffer parity);
}
