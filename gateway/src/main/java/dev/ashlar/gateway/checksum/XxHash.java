package dev.ashlar.gateway.checksum;

import com.dynatrace.hash4j.hashing.ByteAccess;
import com.dynatrace.hash4j.hashing.HashStream128;
import com.dynatrace.hash4j.hashing.HashStream64;
import com.dynatrace.hash4j.hashing.HashValue128;
import com.dynatrace.hash4j.hashing.Hashing;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The hashes of the xxHash family, in their canonical form: the highest byte first. */
final class XxHash extends RunningDigest {
  private static final ByteAccess<ByteBuffer> BUFFERS =
      ByteAccess.forByteBuffer(ByteOrder.LITTLE_ENDIAN);

  private final HashStream64 hash;

  private XxHash(HashStream64 hash) {
    this.hash = hash;
  }

  static XxHash xxh64() {
    return new XxHash(Hashing.xxh64().hashStream());
  }

  /** XXH3 of 64 bits. */
  static XxHash xxh3() {
    return new XxHash(Hashing.xxh3_64().hashStream());
  }

  /** XXH3 of 128 bits. */
  static XxHash xxh128() {
    return new XxHash(Hashing.xxh3_128().hashStream());
  }

  @Override
  public void update(ByteBuffer bytes) {
    ByteBuffer slice = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
    hash.putBytes(slice, 0, slice.limit(), BUFFERS);
    bytes.position(bytes.limit());
  }

  @Override
  byte[] compute() {
    if (hash instanceof HashStream128 wide) {
      HashValue128 value = wide.get();
      return ByteBuffer.allocate(2 * Long.BYTES)
          .putLong(value.getMostSignificantBits())
          .putLong(value.getLeastSignificantBits())
          .array();
    }
    return bigEndian(hash.getAsLong(), Long.BYTES);
  }
}
