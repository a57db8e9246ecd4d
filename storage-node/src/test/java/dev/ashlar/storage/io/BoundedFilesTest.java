package dev.ashlar.storage.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class BoundedFilesTest {
  private static final int BYTES = 64;
  private static final int THREADS = 4;

  private final SimulatedDrive disk = new SimulatedDrive(new Random(1), Long.MAX_VALUE);
  private final CountedFiles counted = new CountedFiles(disk);

  /** So many files, each full of its number, of which so many may be open at a time. */
  private List<RawFile> files(int count, BoundedFiles bounded) {
    List<RawFile> files = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      byte[] content = new byte[BYTES];
      Arrays.fill(content, (byte) i);
      disk.put(name(i), content);
      files.add(bounded.open(name(i)));
    }
    return files;
  }

  private List<RawFile> files(int count, int openMax) {
    return files(count, new BoundedFiles(counted, openMax));
  }

  private static String name(int file) {
    return "file-" + file;
  }

  private static byte read(RawFile file) throws IOException {
    ByteBuffer target = ByteBuffer.allocate(BYTES);
    file.read(target, 0);
    byte first = target.get(0);
    for (byte each : target.array()) {
      assertEquals(first, each);
    }
    return first;
  }

  private static void write(RawFile file, int value) throws IOException {
    byte[] content = new byte[BYTES];
    Arrays.fill(content, (byte) value);
    file.write(List.of(ByteBuffer.wrap(content)), 0);
  }

  private void checkUse() {
    assertEquals(List.of(), counted.misuses());
  }

  @Test
  void filesAreOpenedWhenTheyAreNeededAndNeverMoreThanTheBound() throws Exception {
    List<RawFile> files = files(10, 3);
    assertEquals(0, counted.open());
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < 10; i++) {
        assertEquals(i, read(files.get(i)));
        assertEquals(BYTES, files.get(i).size());
      }
    }
    assertEquals(3, counted.openMost());
    for (RawFile file : files) {
      file.close();
    }
    assertEquals(0, counted.open());
    checkUse();
  }

  @Test
  void aFileThatIsNotOpenIsNotOpenedForWhatIsInMemory() throws Exception {
    List<RawFile> files = files(2, new BoundedFiles(new CachedFiles(counted), 1));
    ByteBuffer target = ByteBuffer.allocate(BYTES);
    assertFalse(files.get(1).readCached(target, 0));
    assertEquals(0, counted.open());
    assertEquals(1, read(files.get(1)));
    assertTrue(files.get(1).readCached(target, 0));
    assertEquals(1, target.get(BYTES - 1));
    assertEquals(0, read(files.get(0)), "the other one is closed for it");
    assertFalse(files.get(1).readCached(target.clear(), 0));
    checkUse();
  }

  @Test
  void theFileThatWasNotUsedForLongestIsClosed() throws Exception {
    List<RawFile> files = files(4, 3);
    for (int i : new int[] {0, 1, 2, 0, 3}) {
      assertEquals(i, read(files.get(i)));
    }
    assertTrue(counted.isOpen(name(0)), "it was used again");
    assertFalse(counted.isOpen(name(1)));
    assertTrue(counted.isOpen(name(2)));
  }

  @Test
  void filesBeingReadStayOpen() throws Exception {
    List<RawFile> files = files(4, 1);
    counted.onRead(
        name -> {
          if (name.equals(name(0))) {
            assertReads(files, 1, 2, 3);
            assertTrue(counted.isOpen(name));
          }
        });
    assertEquals(0, read(files.getFirst()));
    assertEquals(2, counted.openMost(), "the one that is read, and another");
    assertEquals(1, read(files.get(1)));
    assertEquals(1, counted.open());
    checkUse();
  }

  private static void assertReads(List<RawFile> files, int... which) {
    for (int i : which) {
      try {
        assertEquals(i, read(files.get(i)));
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }
  }

  /** Who opens it again and syncs it would not hear that a write has failed. */
  @Test
  void unsyncedFilesStayOpen() throws Exception {
    List<RawFile> files = files(3, 1);
    write(files.getFirst(), 50);
    assertReads(files, 1, 2);
    write(files.getFirst(), 51);
    assertReads(files, 1, 2);
    assertTrue(counted.isOpen(name(0)));
    files.getFirst().sync();
    assertReads(files, 1);
    assertFalse(counted.isOpen(name(0)), "synced");
    assertEquals(51, read(files.getFirst()));
    files.getFirst().sync();
    assertReads(files, 2);
    assertEquals(1, counted.open());
    checkUse();
  }

  /** Some that are not in use were used while others were closed: they are closed, too. */
  @Test
  void allThatAreNotInUseAreClosedWhenNoFileCanBeOpened() throws Exception {
    List<RawFile> files = files(6, 5);
    assertReads(files, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4);
    counted.onClose(
        () -> {
          for (int i = 0; i < 5; i++) {
            if (counted.isOpen(name(i))) {
              assertReads(files, i);
            }
          }
        });
    counted.limit(1);
    assertReads(files, 5);
    assertEquals(1, counted.open());
    checkUse();
  }

  @Test
  void idleFilesAreClosedWhereTheProcessMayOpenNoMore() throws Exception {
    BoundedFiles bounded = new BoundedFiles(counted, 8);
    List<RawFile> files = files(8, bounded);
    counted.limit(2);
    assertReads(files, 0, 1, 2, 3, 4, 5, 6, 7);
    bounded.syncDirectory();
    assertReads(files, 0, 1);
    bounded.create("new", BYTES).close();
    assertEquals(2, counted.openMost());
    assertTrue(counted.refusals() > 0);
    checkUse();
  }

  @Test
  void allFilesInUseIsATemporaryFailure() throws Exception {
    BoundedFiles bounded = new BoundedFiles(counted, 8);
    List<RawFile> files = files(3, bounded);
    counted.limit(1);
    write(files.getFirst(), 50);
    assertThrows(TooManyOpenFilesException.class, () -> read(files.get(1)));
    assertThrows(TooManyOpenFilesException.class, () -> write(files.get(1), 60));
    assertThrows(TooManyOpenFilesException.class, () -> files.get(1).sync());
    assertThrows(TooManyOpenFilesException.class, bounded::syncDirectory);
    assertThrows(TooManyOpenFilesException.class, () -> bounded.create("new", BYTES));
    assertEquals(50, read(files.getFirst()));
    counted.limit(2);
    assertReads(files, 1, 2);
    files.getFirst().sync();
    counted.limit(1);
    assertReads(files, 1, 2);
    assertEquals(50, read(files.getFirst()));
    checkUse();
  }

  @Test
  void closedFileIsNotReopened() throws Exception {
    List<RawFile> files = files(2, 1);
    assertReads(files, 0);
    for (RawFile file : files) {
      file.close();
      file.close();
      IOException refusal = assertThrows(IOException.class, () -> read(file));
      assertTrue(refusal.toString().contains("is closed"), refusal.toString());
    }
    assertEquals(0, counted.open());
    checkUse();
  }

  /** What runs then may fail, and says so; what comes is refused. */
  @Test
  void aFileMayBeClosedWhileItIsInUse() throws Exception {
    BoundedFiles bounded = new BoundedFiles(counted, 2);
    files(1, bounded);
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      for (int round = 0; round < 500; round++) {
        RawFile file = bounded.open(name(0));
        List<Future<Integer>> readers = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
          readers.add(threads.submit(() -> readUntilClosed(file)));
        }
        assertEquals(0, read(file));
        file.close();
        for (Future<Integer> reader : readers) {
          reader.get();
        }
        assertEquals(0, counted.open());
      }
    }
  }

  private static int readUntilClosed(RawFile file) {
    int reads = 0;
    while (true) {
      try {
        assertEquals(0, read(file));
        reads++;
      } catch (IOException e) {
        return reads;
      }
    }
  }

  @Test
  void atLeastOneFileMayBeOpen() {
    assertThrows(IllegalArgumentException.class, () -> new BoundedFiles(counted, 0));
  }

  /** Every file has one writer, and anybody reads it. */
  @Test
  void manyThreadsUseMoreFilesThanMayBeOpen() throws Exception {
    long seed = Long.getLong("ashlar.seed", System.nanoTime());
    int openMax = 8;
    List<RawFile> files = files(64, openMax);
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      List<Future<?>> ends = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        ends.add(threads.submit(worker(files, i, new Random(seed + i))));
      }
      for (Future<?> end : ends) {
        end.get();
      }
    } catch (Exception e) {
      throw new AssertionError("-Dashlar.seed=" + seed, e);
    }
    checkUse();
    int openMost = counted.openMost();
    assertTrue(openMost <= openMax + 4 * THREADS, () -> openMost + " open, seed " + seed);
    assertReads(List.of(files.getFirst()), 0);
    read(files.getLast());
    assertTrue(counted.open() <= openMax, () -> counted.open() + " open at rest, seed " + seed);
  }

  /**
   * Writes to the files of its own, whose values stay below 64 modulo 64 the number of the file.
   */
  private static Callable<Boolean> worker(List<RawFile> files, int worker, Random random) {
    return () -> {
      for (int step = 0; step < 20_000; step++) {
        int at = random.nextInt(files.size());
        RawFile file = files.get(at);
        if (at % THREADS != worker || at == 0) {
          ByteBuffer target = ByteBuffer.allocate(1);
          file.read(target, random.nextInt(BYTES));
          assertEquals(at, target.get(0) & 63, "bytes of another file");
        } else {
          int value = at + 64 * random.nextInt(2);
          write(file, value);
          if (random.nextBoolean()) {
            write(file, value);
          }
          assertEquals(value, read(file));
          file.sync();
        }
      }
      return true;
    };
  }
}
