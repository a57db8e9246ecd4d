package dev.ashlar.codec.checksum;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.codec.isal.NativeMd5;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class Md5Test {
  private static final long SEED = Long.getLong("ashlar.md5.seed", new Random().nextLong());

  @Test
  void examplesOfRfc1321() throws Exception {
    assertEquals("d41d8cd98f00b204e9800998ecf8427e", md5(""));
    assertEquals("900150983cd24fb0d6963f7d28e17f72", md5("abc"));
    assertEquals(
        "57edf4a22be3c955ac49da2e2107b67a", md5("1234567890".repeat(8)), "longer than a block");
  }

  private static String md5(String text) throws InterruptedException {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    try (Md5 md5 = new Md5Lanes().start()) {
      md5.add(List.of(direct(bytes)), () -> {});
      return HexFormat.of().formatHex(md5.digest());
    }
  }

  @Test
  void everyLengthOfPadding() throws Exception {
    byte[] bytes = new byte[300];
    new Random(3).nextBytes(bytes);
    for (int length = 0; length <= bytes.length; length++) {
      byte[] message = Arrays.copyOf(bytes, length);
      try (Md5 md5 = new Md5Lanes().start()) {
        md5.add(List.of(direct(message)), () -> {});
        assertArrayEquals(jdk(message), md5.digest(), "length " + length);
      }
    }
  }

  @Test
  void parallelResultsEqualTheJdks() throws Exception {
    System.out.println("-Dashlar.md5.seed=" + SEED);
    Random random = new Random(SEED);
    for (Md5Lanes lanes : List.of(new Md5Lanes(), Md5Lanes.inJava())) {
      for (int messages : new int[] {1, 2, 3, 5, 16, 17, 40}) {
        together(lanes, messages, random);
      }
    }
  }

  private static void together(Md5Lanes lanes, int messages, Random random) throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<String>> mismatches = new ArrayList<>();
      for (int i = 0; i < messages; i++) {
        Random own = new Random(random.nextLong());
        Callable<String> one = () -> one(lanes, own);
        mismatches.add(threads.submit(one));
      }
      for (Future<String> mismatch : mismatches) {
        assertEquals("", mismatch.get());
      }
    }
  }

  /** A message of random length in random pieces, which are overwritten as soon as allowed. */
  private static String one(Md5Lanes lanes, Random random) throws Exception {
    boolean isAligned = random.nextBoolean();
    MessageDigest expected = MessageDigest.getInstance("MD5");
    AtomicInteger given = new AtomicInteger();
    int adds = random.nextInt(6);
    try (Md5 md5 = lanes.start()) {
      for (int add = 0; add < adds; add++) {
        List<ByteBuffer> pieces = new ArrayList<>();
        for (int piece = random.nextInt(8); piece > 0; piece--) {
          byte[] bytes = new byte[isAligned ? 16384 : random.nextInt(40_000)];
          random.nextBytes(bytes);
          expected.update(bytes);
          pieces.add(direct(bytes));
        }
        md5.add(
            pieces,
            () -> {
              pieces.forEach(piece -> piece.duplicate().put(new byte[piece.remaining()]));
              given.incrementAndGet();
            });
      }
      byte[] digest = md5.digest();
      boolean isRight = MessageDigest.isEqual(expected.digest(), digest) && given.get() == adds;
      return isRight ? "" : "differs, or memory not given back once";
    }
  }

  @Test
  void theFirstThreadHashesForAll() throws Exception {
    Assumptions.assumeTrue(NativeMd5.isAvailable());
    Md5Lanes lanes = new Md5Lanes();
    List<Md5> messages = new ArrayList<>();
    AtomicInteger given = new AtomicInteger();
    byte[] bytes = new byte[64 << 10];
    for (int i = 0; i < 20; i++) {
      Md5 md5 = lanes.start();
      md5.add(List.of(direct(bytes)), given::incrementAndGet);
      messages.add(md5);
    }
    assertTrue(lanes.hasCompany());
    assertArrayEquals(jdk(bytes), messages.getFirst().digest());
    assertEquals(16, given.get(), "all lanes were used, not more");
    assertEquals(lanes.calls() * 16, lanes.lanesFilled());
    for (Md5 md5 : messages.subList(1, 20)) {
      assertArrayEquals(jdk(bytes), md5.digest());
      md5.close();
    }
  }

  @Test
  void anAbandonedMessageReleasesItsMemoryOnceAndOthersContinue() throws Exception {
    Md5Lanes lanes = new Md5Lanes();
    AtomicInteger given = new AtomicInteger();
    byte[] bytes = new byte[64 << 10];
    Md5 gone = lanes.start();
    gone.add(List.of(direct(bytes)), given::incrementAndGet);
    gone.close();
    gone.close();
    assertEquals(1, given.get());
    assertThrows(IllegalStateException.class, () -> gone.add(List.of(), () -> {}));
    try (Md5 other = lanes.start()) {
      other.add(List.of(direct(bytes)), given::incrementAndGet);
      assertArrayEquals(jdk(bytes), other.digest());
    }
    assertEquals(2, given.get());
  }

  @Test
  void interruptedThreadsLoseNoWakeUps() throws Exception {
    System.out.println("-Dashlar.md5.seed=" + SEED);
    Random random = new Random(SEED);
    Md5Lanes lanes = new Md5Lanes();
    byte[] bytes = new byte[128 << 10];
    ByteBuffer direct = direct(bytes);
    byte[] expected = jdk(bytes);
    AtomicInteger wrong = new AtomicInteger();
    AtomicInteger taken = new AtomicInteger();
    AtomicInteger given = new AtomicInteger();
    for (int round = 0; round < 30; round++) {
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 24; i++) {
        threads.add(
            Thread.ofVirtual()
                .start(
                    () -> {
                      try (Md5 md5 = lanes.start()) {
                        md5.add(List.of(direct), given::incrementAndGet);
                        taken.incrementAndGet();
                        if (!MessageDigest.isEqual(expected, md5.digest())) {
                          wrong.incrementAndGet();
                        }
                      } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                      }
                    }));
      }
      for (Thread thread : threads) {
        if (random.nextInt(3) == 0) {
          thread.interrupt();
        }
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertEquals(0, wrong.get());
      assertEquals(taken.get(), given.get());
    }
  }

  @Test
  void badArgumentsAreRefused() throws Exception {
    try (Md5 md5 = new Md5Lanes().start()) {
      assertThrows(
          IllegalArgumentException.class,
          () -> md5.add(List.of(ByteBuffer.allocate(64)), () -> {}));
    }
    Assumptions.assumeTrue(NativeMd5.isAvailable());
    int[] state = new int[4];
    ByteBuffer direct = ByteBuffer.allocateDirect(128);
    assertThrows(
        IllegalArgumentException.class, () -> NativeMd5.update(state, direct.slice(0, 65)));
    assertThrows(IllegalArgumentException.class, () -> NativeMd5.update(new int[3], direct));
    assertThrows(IllegalArgumentException.class, () -> NativeMd5.end(state, new byte[192]));
    NativeMd5.Lanes lanes = new NativeMd5.Lanes();
    lanes.set(0, state, direct);
    assertThrows(IllegalArgumentException.class, () -> lanes.update(1, 3));
    assertThrows(IllegalArgumentException.class, () -> lanes.update(2, 1));
    assertThrows(IllegalArgumentException.class, () -> lanes.update(1, -1));
    assertThrows(IndexOutOfBoundsException.class, () -> lanes.update(17, 1));
    assertThrows(IndexOutOfBoundsException.class, () -> lanes.set(16, state, direct));
    assertThrows(IndexOutOfBoundsException.class, () -> lanes.set(-1, state, direct));
  }

  private static ByteBuffer direct(byte[] bytes) {
    return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
  }

  private static byte[] jdk(byte[] bytes) throws Exception {
    return MessageDigest.getInstance("MD5").digest(bytes);
  }
}
