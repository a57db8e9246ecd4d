package dev.ashlar.gateway.checksum;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Each algorithm over bytes in pieces of any kind. */
class ChecksumKindTest {
  /** As the reference implementation of xxHash computes them. */
  @ParameterizedTest
  @CsvSource({
    "XXHASH64, '', ef46db3751d8e999",
    "XXHASH3, '', 2d06800538d394c2",
    "XXHASH128, '', 99aa06d3014798d86001c324468d497f",
    "XXHASH64, 123456789, 8cb841db40e6ae83",
    "XXHASH3, 123456789, 72dcb18b67a17dff",
    "XXHASH128, 123456789, 33119477ede5dcd5e9716427681d5860"
  })
  void publishedValues(ChecksumKind kind, String text, String expected) {
    RunningDigest digest = kind.start();
    digest.update(ByteBuffer.wrap(text.getBytes(US_ASCII)));
    assertEquals(expected, HexFormat.of().formatHex(digest.value()));
  }

  @ParameterizedTest
  @EnumSource
  void valuesHaveTheLengthThatTheyAreDecodedWith(ChecksumKind kind) {
    byte[] value = kind.start().value();
    assertArrayEquals(value, kind.decode(Base64.getEncoder().encodeToString(value)));
    byte[] longer = Arrays.copyOf(value, value.length + 1);
    assertEquals(null, kind.decode(Base64.getEncoder().encodeToString(longer)));
  }

  @Property(tries = 500)
  void piecesOfAnyKindAddUp(@ForAll ChecksumKind kind, @ForAll long seed) {
    Random random = new Random(seed);
    byte[] bytes = new byte[random.nextInt(3000)];
    random.nextBytes(bytes);
    RunningDigest whole = kind.start();
    whole.update(ByteBuffer.wrap(bytes));
    ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length).put(bytes);
    RunningDigest pieces = kind.start();
    for (int from = 0; from < bytes.length; ) {
      int to = Math.min(bytes.length, from + random.nextInt(700));
      ByteBuffer source = random.nextBoolean() ? direct.duplicate() : ByteBuffer.wrap(bytes);
      ByteBuffer piece = source.limit(to).position(from);
      pieces.update(random.nextBoolean() ? piece : piece.asReadOnlyBuffer());
      from = to;
    }
    assertArrayEquals(whole.value(), pieces.value());
  }
}
