package dev.ashlar.codec.checksum;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class ChecksumTest {
  private static final byte[] CHECK = "123456789".getBytes(StandardCharsets.US_ASCII);

  @Test
  void knownValues() {
    assertEquals(0xe3069283, Crc32c.of(ByteBuffer.wrap(CHECK)));
    assertEquals(0xae8b14860a799888L, value(new Crc64Nvme(), CHECK));
    assertEquals(0, value(new Crc64Nvme(), new byte[0]));
    // The command-set specification of NVMe lists these for 4 KiB of zeroes and of ones.
    byte[] block = new byte[4096];
    assertEquals(0x6482d367eb22b64eL, value(new Crc64Nvme(), block));
    Arrays.fill(block, (byte) 0xff);
    assertEquals(0xc0ddba7302eca3acL, value(new Crc64Nvme(), block));
  }

  @Test
  void nativeAndTablesAgreeForEveryLengthAndKindOfBuffer() {
    byte[] bytes = new byte[1000];
    new Random(7).nextBytes(bytes);
    ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length).put(bytes);
    for (int length = 0; length < 900; length++) {
      int from = length % 13;
      Checksum tables = Crc64Nvme.inJava();
      tables.update(bytes, from, length);
      for (Crc64Nvme crc : List.of(Crc64Nvme.inJava(), new Crc64Nvme())) {
        ByteBuffer slice = direct.duplicate().position(from).limit(from + length);
        crc.update(slice);
        assertEquals(0, slice.remaining());
        assertEquals(tables.getValue(), crc.getValue(), "direct, " + length);
        crc.reset();
        crc.update(ByteBuffer.wrap(bytes, from, length).asReadOnlyBuffer());
        assertEquals(tables.getValue(), crc.getValue(), "read-only, " + length);
        crc.reset();
        crc.update(bytes, from, length);
        assertEquals(tables.getValue(), crc.getValue(), "array, " + length);
      }
    }
  }

  @Test
  void piecesOfAnyLengthAddUp() {
    byte[] bytes = new byte[300_000];
    Random random = new Random(11);
    random.nextBytes(bytes);
    Crc64Nvme crc = new Crc64Nvme();
    for (int at = 0; at < bytes.length; ) {
      int length = Math.min(random.nextInt(100_000), bytes.length - at);
      crc.update(bytes, at, length);
      at += length;
      if (at < bytes.length) {
        crc.update(bytes[at++]);
      }
    }
    assertEquals(value(Crc64Nvme.inJava(), bytes), crc.getValue());
  }

  @Test
  void blocksAreCountedFromThePosition() {
    byte[] bytes = new byte[10_000];
    new Random(5).nextBytes(bytes);
    ByteBuffer payload = ByteBuffer.wrap(bytes).position(3);
    int[] expected = {
      Crc32c.of(ByteBuffer.wrap(bytes, 3, 4096)),
      Crc32c.of(ByteBuffer.wrap(bytes, 4099, 4096)),
      Crc32c.of(ByteBuffer.wrap(bytes, 8195, 1805)),
    };
    assertArrayEquals(expected, Crc32c.blockCrcs(payload));
    assertEquals(3, payload.position());
    assertEquals(0, Crc32c.blockCrcs(ByteBuffer.allocate(0)).length);
  }

  @Property(tries = 200)
  void combining(@ForAll @Size(max = 300) byte[] a, @ForAll @Size(max = 300) byte[] b) {
    byte[] both = Arrays.copyOf(a, a.length + b.length);
    System.arraycopy(b, 0, both, a.length, b.length);
    assertEquals(
        value(new CRC32(), both),
        CrcCombine.CRC32.combine(value(new CRC32(), a), value(new CRC32(), b), b.length));
    assertEquals(
        (int) value(new CRC32C(), both),
        Crc32c.combine((int) value(new CRC32C(), a), (int) value(new CRC32C(), b), b.length));
    assertEquals(
        value(new Crc64Nvme(), both),
        Crc64Nvme.combine(value(new Crc64Nvme(), a), value(new Crc64Nvme(), b), b.length));
  }

  @Test
  void combiningIsAssociativeForLengthsOfTerabytes() {
    long tera = 5L << 40;
    for (CrcCombine crc : List.of(CrcCombine.CRC32, CrcCombine.CRC32C, CrcCombine.CRC64NVME)) {
      long a = 0x12345678L;
      long b = 0x9abcdef0L;
      long c = 0x0fedcba9L;
      assertEquals(
          crc.combine(crc.combine(a, b, tera), c, 3 * tera + 7),
          crc.combine(a, crc.combine(b, c, 3 * tera + 7), 4 * tera + 7));
    }
  }

  private static long value(Checksum checksum, byte[] bytes) {
    checksum.update(bytes, 0, bytes.length);
    return checksum.getValue();
  }
}
