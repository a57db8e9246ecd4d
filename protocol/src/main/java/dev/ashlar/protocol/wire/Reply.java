package dev.ashlar.protocol.wire;

import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.model.BlobId;
import java.util.List;

/** The answer to a request. Every request gets exactly one, or the connection ends. */
public sealed interface Reply extends Message {
  /** The request was executed; a change is durable. */
  record Done(long incarnation) implements Reply {
    public Done {
      if (incarnation < 1) {
        throw new IllegalArgumentException("incarnation " + incarnation);
      }
    }
  }

  /** The request was not executed, or only in part. */
  record Failed(ShardFault fault, String why) implements Reply {
    private static final int WHY_CHARS_MAX = 160;

    public Failed {
      why = why.substring(0, Math.min(why.length(), WHY_CHARS_MAX));
    }
  }

  /** The bytes read follow as the data of this frame and of DATA frames. */
  record Bytes(int length) implements Reply {
    public Bytes {
      if (length < 1 || length > Wire.DATA_BYTES_MAX) {
        throw new IllegalArgumentException("answer of " + length + " bytes");
      }
    }
  }

  /** A page of a listing. */
  record Blobs(List<BlobId> blobs) implements Reply {
    public Blobs {
      blobs = List.copyOf(blobs);
    }
  }

  /** A page of a listing. */
  record Attempts(List<DiscardIntent> attempts) implements Reply {
    public Attempts {
      attempts = List.copyOf(attempts);
    }
  }
}
