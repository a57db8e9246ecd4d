package dev.ashlar.gateway.checksum;

import com.google.protobuf.ByteString;
import dev.ashlar.codec.checksum.Crc64Nvme;
import dev.ashlar.codec.checksum.CrcCombine;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumType;
import dev.ashlar.protocol.message.ChecksumValue;
import java.nio.ByteBuffer;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/** CRCs of whole objects: they alone can be had from the CRCs of the pieces. */
public final class FullObjectCrc {
  private FullObjectCrc() {}

  /** Whether it is a CRC of all bytes of its object. */
  public static boolean is(ChecksumValue checksum) {
    return checksum.getType() == ChecksumType.CHECKSUM_FULL_OBJECT
        && switch (checksum.getAlgorithm()) {
          case CHECKSUM_CRC32, CHECKSUM_CRC32C, CHECKSUM_CRC64NVME -> true;
          case CHECKSUM_SHA1, CHECKSUM_SHA256, CHECKSUM_NONE, UNRECOGNIZED -> false;
        };
  }

  public static ByteString ofNothing(ChecksumAlgorithm algorithm) {
    return bytes(algorithm, 0);
  }

  /** The CRC of two sequences, one behind the other. */
  public static ByteString append(
      ChecksumAlgorithm algorithm, ByteString first, ByteString second, long secondLength) {
    CrcCombine combiner =
        switch (algorithm) {
          case CHECKSUM_CRC32 -> CrcCombine.CRC32;
          case CHECKSUM_CRC32C -> CrcCombine.CRC32C;
          case CHECKSUM_CRC64NVME -> CrcCombine.CRC64NVME;
          case CHECKSUM_SHA1, CHECKSUM_SHA256, CHECKSUM_NONE, UNRECOGNIZED -> throw none(algorithm);
        };
    return bytes(algorithm, combiner.combine(toLong(first), toLong(second), secondLength));
  }

  public static Checksum start(ChecksumAlgorithm algorithm) {
    return switch (algorithm) {
      case CHECKSUM_CRC32 -> new CRC32();
      case CHECKSUM_CRC32C -> new CRC32C();
      case CHECKSUM_CRC64NVME -> new Crc64Nvme();
      case CHECKSUM_SHA1, CHECKSUM_SHA256, CHECKSUM_NONE, UNRECOGNIZED -> throw none(algorithm);
    };
  }

  /** As S3 writes it: big-endian. */
  public static ByteString bytes(ChecksumAlgorithm algorithm, long crc) {
    int length = algorithm == ChecksumAlgorithm.CHECKSUM_CRC64NVME ? Long.BYTES : Integer.BYTES;
    ByteBuffer word = ByteBuffer.allocate(Long.BYTES).putLong(crc).flip();
    return ByteString.copyFrom(word.position(Long.BYTES - length));
  }

  private static long toLong(ByteString bigEndian) {
    long value = 0;
    for (int i = 0; i < bigEndian.size(); i++) {
      value = value << 8 | (bigEndian.byteAt(i) & 0xFF);
    }
    return value;
  }

  private static IllegalArgumentException none(ChecksumAlgorithm algorithm) {
    return new IllegalArgumentException("no CRC: " + algorithm);
  }
}
