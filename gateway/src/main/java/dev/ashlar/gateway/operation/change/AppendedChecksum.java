package dev.ashlar.gateway.operation.change;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.auth.Authenticator.PayloadBody;
import dev.ashlar.gateway.checksum.ChecksumKind;
import dev.ashlar.gateway.checksum.Checksums;
import dev.ashlar.gateway.checksum.RunningDigest;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumValue;
import dev.ashlar.protocol.message.ObjectSummary;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The checksum of an object after an append. A full-object CRC is continued over the appended
 * bytes; any other checksum is lost, unless the object was empty.
 */
final class AppendedChecksum {
  private final ChecksumValue before;
  private final boolean isFirst;
  private final boolean isCarried;
  // Only if the body computes another algorithm than the object has.
  private final @Nullable RunningDigest running;

  private AppendedChecksum(ObjectSummary object, ChecksumAlgorithm ofBody) {
    before = object.getChecksum();
    isFirst = object.getSize() == 0;
    isCarried = !isFirst && Checksums.isFullObjectCrc(before);
    boolean isOther = isCarried && ofBody != before.getAlgorithm();
    running = isOther ? ChecksumKind.of(before.getAlgorithm()).start() : null;
  }

  /**
   * Begins, and makes the body compute the needed checksum if it computes none.
   *
   * @param announced the algorithm of the checksum that comes with the body
   */
  static AppendedChecksum begin(
      ObjectSummary object, PayloadBody body, ChecksumAlgorithm announced) {
    ChecksumAlgorithm ofBody = announced;
    if (announced == ChecksumAlgorithm.CHECKSUM_NONE) {
      if (object.getSize() == 0) {
        ofBody = ChecksumAlgorithm.CHECKSUM_CRC64NVME;
      } else if (Checksums.isFullObjectCrc(object.getChecksum())) {
        ofBody = object.getChecksum().getAlgorithm();
      }
      if (ofBody != ChecksumAlgorithm.CHECKSUM_NONE) {
        body.alsoCompute(ofBody);
      }
    }
    return new AppendedChecksum(object, ofBody);
  }

  /** Adds appended bytes; does not change the position of the buffer. */
  void update(ByteBuffer bytes) {
    if (running != null) {
      running.update(bytes.duplicate());
    }
  }

  /**
   * The object's checksum after the append.
   *
   * @param ofBody the checksum of the appended bytes that the body computed
   * @param length of the appended bytes
   */
  ChecksumValue after(ChecksumValue ofBody, long length) {
    if (isFirst) {
      return ofBody;
    }
    if (!isCarried) {
      return ChecksumValue.getDefaultInstance();
    }
    ByteString appended =
        running == null ? ofBody.getValue() : ByteString.copyFrom(running.value());
    ChecksumKind kind = ChecksumKind.of(before.getAlgorithm());
    return before.toBuilder().setValue(kind.append(before.getValue(), appended, length)).build();
  }
}
