package dev.ashlar.gateway.checksum;

import com.google.protobuf.ByteString;
import dev.ashlar.codec.checksum.Crc64Nvme;
import dev.ashlar.codec.checksum.CrcCombine;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** The checksum algorithms of S3: how they are named, computed, and combined. */
public enum ChecksumKind {
  CRC32(ChecksumAlgorithm.CHECKSUM_CRC32, 4),
  CRC32C(ChecksumAlgorithm.CHECKSUM_CRC32C, 4),
  CRC64NVME(ChecksumAlgorithm.CHECKSUM_CRC64NVME, 8),
  SHA1(ChecksumAlgorithm.CHECKSUM_SHA1, 20),
  SHA256(ChecksumAlgorithm.CHECKSUM_SHA256, 32),
  SHA512(ChecksumAlgorithm.CHECKSUM_SHA512, 64),
  MD5(ChecksumAlgorithm.CHECKSUM_MD5, 16),
  /** XXH64. */
  XXHASH64(ChecksumAlgorithm.CHECKSUM_XXHASH64, 8),
  /** XXH3 of 64 bits. */
  XXHASH3(ChecksumAlgorithm.CHECKSUM_XXHASH3, 8),
  /** XXH3 of 128 bits. */
  XXHASH128(ChecksumAlgorithm.CHECKSUM_XXHASH128, 16);

  public static final List<ChecksumKind> ALL = List.of(values());

  /** Listings look an algorithm up for every key. */
  private static final Map<ChecksumAlgorithm, ChecksumKind> BY_ALGORITHM = byAlgorithm();

  private final ChecksumAlgorithm algorithm;
  private final int bytes;
  private final String header = "x-amz-checksum-" + lowerCaseName();

  @SuppressWarnings("ImmutableEnumChecker") // nobody writes to its array
  private final AsciiString headerName = AsciiString.cached(header);

  private final String element = "Checksum" + name();

  ChecksumKind(ChecksumAlgorithm algorithm, int bytes) {
    this.algorithm = algorithm;
    this.bytes = bytes;
  }

  /** The kind of an algorithm that is one. */
  public static ChecksumKind of(ChecksumAlgorithm algorithm) {
    ChecksumKind kind = BY_ALGORITHM.get(algorithm);
    if (kind == null) {
      throw new IllegalArgumentException("no checksum: " + algorithm);
    }
    return kind;
  }

  private static Map<ChecksumAlgorithm, ChecksumKind> byAlgorithm() {
    Map<ChecksumAlgorithm, ChecksumKind> kinds = new EnumMap<>(ChecksumAlgorithm.class);
    ALL.forEach(kind -> kinds.put(kind.algorithm, kind));
    return Collections.unmodifiableMap(kinds);
  }

  public static @Nullable ChecksumKind ofHeader(String name) {
    for (ChecksumKind kind : ALL) {
      if (kind.header.equalsIgnoreCase(name)) {
        return kind;
      }
    }
    return null;
  }

  public ChecksumAlgorithm algorithm() {
    return algorithm;
  }

  /** The header or trailer that carries it, like x-amz-checksum-crc32. */
  public String header() {
    return header;
  }

  /** The value of that header; null without it. */
  public @Nullable String in(HttpHeaders headers) {
    return headers.get(headerName);
  }

  /** The XML element that carries it, like ChecksumCRC32. */
  public String element() {
    return element;
  }

  String lowerCaseName() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Whether the checksum of a whole can be computed from those of its parts. */
  boolean isCrc() {
    return switch (this) {
      case CRC32, CRC32C, CRC64NVME -> true;
      case SHA1, SHA256, SHA512, MD5, XXHASH64, XXHASH3, XXHASH128 -> false;
    };
  }

  /** Begins to compute it. */
  public RunningDigest start() {
    return switch (this) {
      case CRC32 -> RunningDigest.of(new CRC32(), bytes);
      case CRC32C -> RunningDigest.of(new CRC32C(), bytes);
      case CRC64NVME -> RunningDigest.of(new Crc64Nvme(), bytes);
      case SHA1 -> RunningDigest.of(Digests.instance("SHA-1"));
      case SHA256 -> RunningDigest.of(Digests.sha256());
      case SHA512 -> RunningDigest.of(Digests.instance("SHA-512"));
      case MD5 -> RunningDigest.of(Digests.md5());
      case XXHASH64 -> XxHash.xxh64();
      case XXHASH3 -> XxHash.xxh3();
      case XXHASH128 -> XxHash.xxh128();
    };
  }

  /** The CRC of two sequences, one behind the other. */
  public ByteString append(ByteString first, ByteString second, long secondLength) {
    CrcCombine combiner =
        switch (this) {
          case CRC32 -> CrcCombine.CRC32;
          case CRC32C -> CrcCombine.CRC32C;
          case CRC64NVME -> CrcCombine.CRC64NVME;
          case SHA1, SHA256, SHA512, MD5, XXHASH64, XXHASH3, XXHASH128 ->
              throw new IllegalArgumentException("no CRC: " + this);
        };
    long crc = combiner.combine(toLong(first), toLong(second), secondLength);
    return ByteString.copyFrom(RunningDigest.bigEndian(crc, bytes));
  }

  private static long toLong(ByteString bigEndian) {
    long value = 0;
    for (int i = 0; i < bigEndian.size(); i++) {
      value = value << 8 | (bigEndian.byteAt(i) & 0xFF);
    }
    return value;
  }

  /** The value behind a text in Base64; null if that is malformed or of another length. */
  public byte @Nullable [] decode(String base64) {
    byte[] value = Digests.decodeBase64(base64);
    return value != null && value.length == bytes ? value : null;
  }
}
