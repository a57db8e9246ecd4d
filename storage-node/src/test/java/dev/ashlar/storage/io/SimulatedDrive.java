package dev.ashlar.storage.io;

import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A drive that can lose power at any call. What was not synced is then lost or kept sector by
 * sector, in any combination; names that were not synced are lost from some point on. It can also
 * return errors, flip bits, and fill up. All chance comes from the given source.
 */
public final class SimulatedDrive implements RawFiles {
  private static final int SECTOR = 512;

  private final Random random;
  private final long capacityBytes;
  private Map<String, SimulatedFile> names = new TreeMap<>();
  private Map<String, SimulatedFile> durableNames = new TreeMap<>();
  private final List<Map<String, SimulatedFile>> unsyncedNames = new ArrayList<>();
  private long callsUntilCrash = Long.MAX_VALUE;
  private boolean isDown;
  private int callsUntilError = Integer.MAX_VALUE;
  private long calls;
  private long readBytes;
  private boolean skipsSyncs;
  private @Nullable String unreadable;
  private long unreadableFrom;
  private long unreadableTo;

  /** Power is gone: unwinds whatever was running. */
  public static final class PowerLoss extends RuntimeException {
    private static final long serialVersionUID = 1;

    PowerLoss() {
      super("power loss", null, false, false);
    }
  }

  public SimulatedDrive(Random random, long capacityBytes) {
    this.random = random;
    this.capacityBytes = capacityBytes;
  }

  /** Power goes in the midst of the n-th changing call from now, counted from 1. */
  public void crashAtCall(long n) {
    callsUntilCrash = n;
  }

  /** The n-th write or sync from now fails, and what it should have made durable is not. */
  public void failAtCall(int n) {
    callsUntilError = n;
  }

  /** Whether syncs of files from now on do nothing, which nobody hears. */
  public void skipSyncs(boolean isOn) {
    skipsSyncs = isOn;
  }

  /** Changing calls so far. */
  public long calls() {
    return calls;
  }

  /** Bytes that were read so far. */
  public long readBytes() {
    return readBytes;
  }

  /** Reads of this file that touch a byte from here on fail. */
  public void makeUnreadable(String name, long from) {
    makeUnreadable(name, from, Long.MAX_VALUE);
  }

  /** Reads of this file that touch any of these bytes fail. */
  public void makeUnreadable(String name, long from, long to) {
    unreadable = name;
    unreadableFrom = from;
    unreadableTo = to;
  }

  /** What the drive holds when power comes back. Everything opened before is void. */
  public void reboot() {
    int kept = random.nextInt(unsyncedNames.size() + 1);
    Map<String, SimulatedFile> left = kept == 0 ? durableNames : unsyncedNames.get(kept - 1);
    durableNames = new TreeMap<>(left);
    names = new TreeMap<>(left);
    unsyncedNames.clear();
    int chance = random.nextInt(4);
    for (SimulatedFile file : new ArrayList<>(durableNames.values())) {
      file.losePower(chance);
    }
    isDown = false;
    callsUntilCrash = Long.MAX_VALUE;
    callsUntilError = Integer.MAX_VALUE;
  }

  /**
   * The process ended and another one starts: what it had written is all there, synced or not.
   * Everything opened before is void.
   */
  public void restart() {
    isDown = false;
    callsUntilCrash = Long.MAX_VALUE;
    callsUntilError = Integer.MAX_VALUE;
  }

  /** Flips one bit that had been durable. */
  public void flipBit(String name, int byteOffset, int bit) {
    SimulatedFile file = names.get(name);
    if (file == null) {
      throw new IllegalArgumentException(name);
    }
    file.durable[byteOffset] ^= (byte) (1 << bit);
    file.current[byteOffset] ^= (byte) (1 << bit);
  }

  /** The bytes of a file as they are now. */
  public byte[] content(String name) {
    SimulatedFile file = names.get(name);
    if (file == null) {
      throw new IllegalArgumentException(name);
    }
    return file.current.clone();
  }

  /** A drive with a file that is durable from the start. */
  public void put(String name, byte[] content) {
    SimulatedFile file = new SimulatedFile(name, content.clone(), content.clone());
    names.put(name, file);
    durableNames.put(name, file);
  }

  @Override
  public RawFile create(String name, long size) throws IOException {
    change();
    if (usableBytes() < size) {
      throw new NoSpaceException(name);
    }
    if (names.containsKey(name)) {
      throw new IOException("exists: " + name);
    }
    SimulatedFile file = new SimulatedFile(name, new byte[(int) size], new byte[(int) size]);
    names.put(name, file);
    noteNames();
    return file;
  }

  @Override
  public RawFile open(String name) throws IOException {
    checkPower();
    SimulatedFile file = names.get(name);
    if (file == null) {
      throw new FileNotFoundException(name);
    }
    return file;
  }

  @Override
  public List<String> list() {
    checkPower();
    return List.copyOf(names.keySet());
  }

  @Override
  public void rename(String from, String to) throws IOException {
    change();
    SimulatedFile file = names.remove(from);
    if (file == null) {
      throw new FileNotFoundException(from);
    }
    file.name = to;
    names.put(to, file);
    noteNames();
  }

  @Override
  public void delete(String name) throws IOException {
    change();
    if (names.remove(name) == null) {
      throw new FileNotFoundException(name);
    }
    noteNames();
  }

  @Override
  public void syncDirectory() {
    change();
    durableNames = new TreeMap<>(names);
    unsyncedNames.clear();
  }

  @Override
  public long usableBytes() {
    long used = 0;
    for (SimulatedFile file : names.values()) {
      used += file.current.length;
    }
    return Math.max(0, capacityBytes - used);
  }

  private void noteNames() {
    unsyncedNames.add(new TreeMap<>(names));
  }

  private void checkPower() {
    if (isDown) {
      throw new PowerLoss();
    }
  }

  /** Counts a call that changes something; it may be the one at which power goes. */
  private void change() {
    checkPower();
    calls++;
    if (--callsUntilCrash == 0) {
      isDown = true;
      throw new PowerLoss();
    }
  }

  private final class SimulatedFile implements RawFile {
    private String name;
    private byte[] current;
    private byte[] durable;
    private final BitSet dirtySectors = new BitSet();

    SimulatedFile(String name, byte[] current, byte[] durable) {
      this.name = name;
      this.current = current;
      this.durable = durable;
    }

    @Override
    public void write(List<ByteBuffer> buffers, long position) throws IOException {
      checkPower();
      boolean powerGoes = callsUntilCrash == 1;
      int at = (int) position;
      for (ByteBuffer buffer : buffers) {
        int length = buffer.remaining();
        if (at + length > current.length) {
          current = Arrays.copyOf(current, at + length);
        }
        buffer.get(buffer.position(), current, at, length);
        buffer.position(buffer.limit());
        at += length;
      }
      dirtySectors.set((int) position / SECTOR, (at + SECTOR - 1) / SECTOR);
      change();
      if (powerGoes) {
        throw new IllegalStateException("power should be gone");
      }
      fail();
    }

    @Override
    public void read(ByteBuffer target, long position) throws IOException {
      checkPower();
      int length = target.remaining();
      readBytes += length;
      if (name.equals(unreadable)
          && position < unreadableTo
          && position + length > unreadableFrom) {
        throw new IOException("simulated read error");
      }
      if (position + length > current.length) {
        throw new EOFException(name);
      }
      target.put(current, (int) position, length);
    }

    @Override
    public void sync() throws IOException {
      change();
      fail();
      if (skipsSyncs) {
        return;
      }
      for (int sector = dirtySectors.nextSetBit(0);
          sector >= 0;
          sector = dirtySectors.nextSetBit(sector + 1)) {
        keep(sector);
      }
      dirtySectors.clear();
    }

    @Override
    public long size() {
      return current.length;
    }

    @Override
    public void close() {}

    /** As a kernel does after a failed sync, it forgets that the sectors were never written. */
    private void fail() throws IOException {
      if (--callsUntilError == 0) {
        for (int sector = dirtySectors.nextSetBit(0);
            sector >= 0;
            sector = dirtySectors.nextSetBit(sector + 1)) {
          if (random.nextBoolean()) {
            keep(sector);
          }
        }
        dirtySectors.clear();
        throw new IOException("simulated write error");
      }
    }

    private void losePower(int chance) {
      for (int sector = dirtySectors.nextSetBit(0);
          sector >= 0;
          sector = dirtySectors.nextSetBit(sector + 1)) {
        boolean survives =
            switch (chance) {
              case 0 -> false;
              case 1 -> true;
              case 2 -> random.nextBoolean();
              default -> random.nextInt(20) > 0;
            };
        if (survives) {
          keep(sector);
        }
      }
      dirtySectors.clear();
      current = durable.clone();
    }

    private void keep(int sector) {
      int from = sector * SECTOR;
      int to = Math.min(from + SECTOR, current.length);
      if (to > durable.length) {
        durable = Arrays.copyOf(durable, to);
      }
      System.arraycopy(current, from, durable, from, to - from);
    }
  }
}
