package dev.ashlar.gateway.operation.change;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.auth.Authenticator.PayloadBody;
import dev.ashlar.gateway.checksum.FullObjectCrc;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumValue;
import dev.ashlar.protocol.message.ObjectSummary;
import java.nio.ByteBuffer;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;

/**
 * The checksum of an object, carried on over bytes that are appended to it. A CRC of the whole
 * object can be; anything else is lost, unless there was nothing before.
 */
final class AppendedChecksum {
  private final ChecksumValue before;
  private final boolean isFirst;
  private final boolean isCarried;
  // Where the body's own checksum is of another algorithm than the object's.
  private final @Nullable Checksum running;

  private AppendedChecksum(ObjectSummary object, ChecksumAlgorithm ofBody) {
    before = object.getChecksum();
    isFirst = object.getSize() == 0;
    isCarried = !isFirst && FullObjectCrc.is(before);
    boolean isOther = isCarried && ofBody != before.getAlgorithm();
    running = isOther ? FullObjectCrc.start(before.getAlgorithm()) : null;
  }

  /**
   * Begins, and has the body compute what is needed if it does not already compute a checksum.
   *
   * @param announced the algorithm of the checksum that comes with the body
   */
  static AppendedChecksum begin(
      ObjectSummary object, PayloadBody body, ChecksumAlgorithm announced) {
    ChecksumAlgorithm ofBody = announced;
    if (announced == ChecksumAlgorithm.CHECKSUM_NONE) {
      if (object.getSize() == 0) {
        ofBody = ChecksumAlgorithm.CHECKSUM_CRC64NVME;
      } else if (FullObjectCrc.is(object.getChecksum())) {
        ofBody = object.getChecksum().getAlgorithm();
      }
      if (ofBody != ChecksumAlgorithm.CHECKSUM_NONE) {
        body.alsoCompute(ofBody);
      }
    }
    return new AppendedChecksum(object, ofBody);
  }

  /** Takes note of appended bytes, and leaves the buffer as it is. */
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
    ChecksumAlgorithm algorithm = before.getAlgorithm();
    ByteString appended =
        running == null ? ofBody.getValue() : FullObjectCrc.bytes(algorithm, running.getValue());
    return before.toBuilder()
        .setValue(FullObjectCrc.append(algorithm, before.getValue(), appended, length))
        .build();
  }
}
