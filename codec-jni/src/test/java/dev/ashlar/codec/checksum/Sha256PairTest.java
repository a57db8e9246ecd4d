package dev.ashlar.codec.checksum;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.codec.isal.NativeSha256;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

class Sha256PairTest {
  private static final int[] LENGTHS = {
    0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 8 << 10, 64 << 10, NativeSha256.MESSAGE_BYTES_MAX
  };

  /** A message, and the same bytes in fragments. */
  private record Message(byte[] bytes, List<ByteBuffer> fragments) {
    static Message random(Random random) {
      int known = LENGTHS[random.nextInt(LENGTHS.length)];
      byte[] bytes = new byte[random.nextBoolean() ? known : random.nextInt(1 + known)];
      random.nextBytes(bytes);
      return new Message(bytes, cut(bytes, random));
    }

    /** At places anywhere, some of them the same, each fragment at any alignment. */
    private static List<ByteBuffer> cut(byte[] bytes, Random random) {
      List<Integer> cuts = new ArrayList<>(List.of(0, bytes.length));
      for (int more = random.nextInt(NativeSha256.FRAGMENTS_MAX); more > 0; more--) {
        cuts.add(random.nextInt(bytes.length + 1));
      }
      Collections.sort(cuts);
      List<ByteBuffer> fragments = new ArrayList<>();
      for (int i = 1; i < cuts.size(); i++) {
        int length = cuts.get(i) - cuts.get(i - 1);
        int offset = random.nextInt(17);
        fragments.add(
            ByteBuffer.allocateDirect(offset + length + random.nextInt(3))
                .position(offset)
                .put(bytes, cuts.get(i - 1), length)
                .flip()
                .position(offset));
      }
      return fragments;
    }
  }

  @Test
  void examplesOfFips180() {
    assertEquals(
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", sha256(""), "empty");
    assertEquals("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", sha256("abc"));
    assertEquals(
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
        sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
        "448 bits");
  }

  private static String sha256(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    List<ByteBuffer> message = List.of(direct(bytes));
    List<byte[]> hashes = Sha256Pair.hash(List.of(message, message));
    assertArrayEquals(hashes.getFirst(), hashes.getLast());
    return HexFormat.of().formatHex(hashes.getFirst());
  }

  @Property(tries = 1000)
  void equalsTheJdk(@ForAll long seed) throws Exception {
    Random random = new Random(seed);
    List<Message> messages = new ArrayList<>(List.of(Message.random(random)));
    if (random.nextInt(4) > 0) {
      messages.add(Message.random(random));
    }
    List<byte[]> hashes = Sha256Pair.hash(messages.stream().map(Message::fragments).toList());
    assertEquals(messages.size(), hashes.size());
    for (int i = 0; i < messages.size(); i++) {
      assertArrayEquals(jdk(messages.get(i).bytes()), hashes.get(i), "message " + i);
    }
  }

  @Test
  void everyLengthOfPadding() throws Exception {
    byte[] bytes = new byte[300];
    new Random(3).nextBytes(bytes);
    for (int length = 0; length <= bytes.length; length++) {
      List<ByteBuffer> first = List.of(direct(bytes).slice(0, length));
      List<ByteBuffer> second = List.of(direct(bytes).slice(length, bytes.length - length));
      List<byte[]> hashes = Sha256Pair.hash(List.of(first, second));
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(bytes, 0, length);
      assertArrayEquals(digest.digest(), hashes.getFirst(), "length " + length);
      digest.update(bytes, length, bytes.length - length);
      assertArrayEquals(digest.digest(), hashes.getLast(), "length " + (bytes.length - length));
    }
  }

  @Test
  void buffersStayWhereTheyAre() {
    ByteBuffer direct = direct(new byte[200]).position(7).limit(150);
    ByteBuffer heap = ByteBuffer.allocate(200).position(3);
    Sha256Pair.hash(List.of(List.of(direct), List.of(heap)));
    Sha256Pair.hash(List.of(List.of(direct)));
    assertEquals(7, direct.position());
    assertEquals(150, direct.limit());
    assertEquals(3, heap.position());
  }

  @Test
  void theJdkHashesWhatDoesNotFit() throws Exception {
    byte[] bytes = new byte[NativeSha256.MESSAGE_BYTES_MAX + 1];
    new Random(9).nextBytes(bytes);
    ByteBuffer direct = direct(bytes);
    List<ByteBuffer> many = new ArrayList<>();
    for (int i = 0; i <= NativeSha256.FRAGMENTS_MAX; i++) {
      many.add(direct.slice(i, 1));
    }
    byte[] hashOfMany = jdk(Arrays.copyOf(bytes, many.size()));
    List<ByteBuffer> heap = List.of(ByteBuffer.wrap(bytes, 0, many.size()));
    List<byte[]> hashes = Sha256Pair.hash(List.of(List.of(direct), many));
    assertArrayEquals(jdk(bytes), hashes.getFirst());
    assertArrayEquals(hashOfMany, hashes.getLast());
    assertArrayEquals(hashOfMany, Sha256Pair.hash(List.of(heap)).getFirst());
    for (List<ByteBuffer> unfit : List.of(List.of(direct), many, heap)) {
      assertFalse(NativeSha256.fits(unfit));
    }
    assertTrue(NativeSha256.fits(many.subList(1, many.size())));
    assertTrue(NativeSha256.fits(List.of(direct.slice(1, bytes.length - 1))));
  }

  @Test
  void badArgumentsAreRefused() {
    Assumptions.assumeTrue(NativeSha256.isAvailable());
    List<ByteBuffer> message = List.of(direct(new byte[1]));
    List<ByteBuffer> heap = List.of(ByteBuffer.allocate(1));
    for (List<List<ByteBuffer>> bad :
        List.of(
            List.<List<ByteBuffer>>of(),
            List.of(message, message, message),
            List.of(heap),
            List.of(message, heap))) {
      assertThrows(IllegalArgumentException.class, () -> NativeSha256.hash(bad));
    }
  }

  private static ByteBuffer direct(byte[] bytes) {
    return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
  }

  private static byte[] jdk(byte[] bytes) throws Exception {
    return MessageDigest.getInstance("SHA-256").digest(bytes);
  }
}
