package dev.ashlar.bench.engine;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;

/** What is done to an object where, as seen from the stripes of its profile. */
enum Access {
  READ("read"),
  OVERWRITE("overwrite"),
  APPEND_AT_STRIP("append at a strip start"),
  APPEND_IN_STRIP("append inside a strip");

  /** Where a strip is appended to: within its first block. */
  private static final int IN_STRIP = 2048;

  private final String title;

  Access(String title) {
    this.title = title;
  }

  String title() {
    return title;
  }

  /** Where it begins: at the second stripe, or with an append in the second strip of that. */
  int offset(Profile profile) {
    return profile.stripeBytes()
        + switch (this) {
          case READ, OVERWRITE -> 0;
          case APPEND_AT_STRIP -> profile.stripeUnit();
          case APPEND_IN_STRIP -> profile.stripeUnit() + IN_STRIP;
        };
  }

  /** How long the object is before: up to the place of an append, else some stripes more. */
  int objectBytes(Profile profile, int bytes) {
    return switch (this) {
      case READ, OVERWRITE ->
          (2 + Math.ceilDiv(bytes, profile.stripeBytes())) * profile.stripeBytes();
      case APPEND_AT_STRIP, APPEND_IN_STRIP -> offset(profile);
    };
  }

  /** What it costs the drives, done once to a fresh object while nothing else runs. */
  DriveCounts cost(LocalEngine engine, Profile profile, int bytes)
      throws DataUnavailableException, MetadataUnavailableException, InterruptedException {
    String key = profile + "-" + this + "-" + bytes;
    engine.put(profile, key, ByteBuffer.allocate(objectBytes(profile, bytes)));
    DriveCounts before = engine.counts();
    if (this == READ) {
      engine.read(key, offset(profile), bytes);
    } else if (!engine.change(key, offset(profile), ByteBuffer.allocate(bytes))) {
      throw new IllegalStateException("somebody else has changed " + key);
    }
    return engine.counts().since(before);
  }
}
