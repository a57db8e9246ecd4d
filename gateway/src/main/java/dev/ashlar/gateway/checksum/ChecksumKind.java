package dev.ashlar.gateway.checksum;

import dev.ashlar.codec.checksum.Crc64Nvme;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import java.util.Locale;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** The checksums a client may send along. */
public enum ChecksumKind {
  CRC32(ChecksumAlgorithm.CHECKSUM_CRC32, 4),
  CRC32C(ChecksumAlgorithm.CHECKSUM_CRC32C, 4),
  CRC64NVME(ChecksumAlgorithm.CHECKSUM_CRC64NVME, 8),
  SHA1(ChecksumAlgorithm.CHECKSUM_SHA1, 20),
  SHA256(ChecksumAlgorithm.CHECKSUM_SHA256, 32);

  private final ChecksumAlgorithm algorithm;
  private final int bytes;
  private final String header;

  ChecksumKind(ChecksumAlgorithm algorithm, int bytes) {
    this.algorithm = algorithm;
    this.bytes = bytes;
    this.header = "x-amz-checksum-" + name().toLowerCase(Locale.ROOT);
  }

  public ChecksumAlgorithm algorithm() {
    return algorithm;
  }

  public int bytes() {
    return bytes;
  }

  /** Of the header or trailer that carries it. */
  public String header() {
    return header;
  }

  public static @Nullable ChecksumKind ofHeader(String name) {
    for (ChecksumKind kind : values()) {
      if (kind.header.equalsIgnoreCase(name)) {
        return kind;
      }
    }
    return null;
  }

  public static @Nullable ChecksumKind of(ChecksumAlgorithm algorithm) {
    for (ChecksumKind kind : values()) {
      if (kind.algorithm == algorithm) {
        return kind;
      }
    }
    return null;
  }

  public RunningDigest start() {
    return switch (this) {
      case CRC32 -> RunningDigest.of(new CRC32(), bytes);
      case CRC32C -> RunningDigest.of(new CRC32C(), bytes);
      case CRC64NVME -> RunningDigest.of(new Crc64Nvme(), bytes);
      case SHA1 -> RunningDigest.of(Sha256.instance("SHA-1"));
      case SHA256 -> RunningDigest.of(Sha256.fresh());
    };
  }
}
