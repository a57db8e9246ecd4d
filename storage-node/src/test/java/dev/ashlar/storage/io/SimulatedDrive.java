package dev.ashlar.storage.io;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A drive that can lose power at any call. What was not synced is then lost or kept sector by
 * sector, in any combination; names that were not synced are lost from some point on. It can
 * allocate every other file only: the file system notes later which of its blocks are written, so
 * that of each block the first write is kept or lost as a whole. The drive can also return errors,
 * once or for a while, flip bits, lose and misdirect writes, and fill up. All chance comes from the
 * given source.
 */
public final class SimulatedDrive implements RawFiles {
  private static final int SECTOR = 512;
  private static final int SECTORS_OF_BLOCK = 8;

  private final Random random;
  private final SimulatedSpace space;
  private Map<String, SimulatedFile> names = new TreeMap<>();
  private Map<String, SimulatedFile> durableNames = new TreeMap<>();
  private final List<Map<String, SimulatedFile>> unsyncedNames = new ArrayList<>();
  private long callsUntilCrash = Long.MAX_VALUE;
  private boolean isDown;
  private final Map<Calls, Errors> errors = new EnumMap<>(Calls.class);
  private long errorCount;
  private int writesUntilStray = Integer.MAX_VALUE;
  private boolean arrivesLate;
  private @Nullable Runnable lateWrite;
  private long calls;
  private long readBytes;
  private boolean skipsSyncs;
  private boolean refusesAllocation;
  private int allocations;
  private String unreadable = "";
  private long unreadableFrom;
  private long unreadableTo;
  private @Nullable String unreadableUntilWritten;
  private String unopenable = "";

  /** What may fail. */
  public enum Calls {
    /** Writes and syncs of files. What they should have made durable is not. */
    DATA,
    /** Making, renaming and deleting files, and syncs of the directory. */
    NAMES
  }

  /** Errors of one kind of calls. */
  private static final class Errors {
    private int callsBefore;
    private int left;

    Errors(int callsBefore, int count) {
      this.callsBefore = callsBefore;
      left = count;
    }

    boolean isNext() {
      if (callsBefore > 0) {
        callsBefore--;
        return false;
      }
      return left-- > 0;
    }
  }

  /** Power is gone: unwinds whatever was running. */
  public static final class PowerLoss extends RuntimeException {
    private static final long serialVersionUID = 1;

    PowerLoss() {
      super("power loss", null, false, false);
    }
  }

  public SimulatedDrive(Random random, long capacityBytes) {
    this(random, new SimulatedSpace(capacityBytes));
  }

  /** One of the drives that share this space. */
  public SimulatedDrive(Random random, SimulatedSpace space) {
    this.random = random;
    this.space = space;
    space.add(this);
  }

  /** Power goes in the midst of the n-th changing call from now, counted from 1. */
  public void crashAtCall(long n) {
    callsUntilCrash = n;
  }

  /** The n-th write or sync from now fails, and what it should have made durable is not. */
  public void failAtCall(int n) {
    fail(Calls.DATA, n, 1);
  }

  /** From the n-th call of this kind on, counted from 1, so many fail; a restart ends that. */
  public void fail(Calls which, int n, int count) {
    errors.put(which, new Errors(n - 1, count));
  }

  /** How many calls have failed so far. */
  public long errorCount() {
    return errorCount;
  }

  /**
   * The n-th write from now, counted from 1, is acknowledged and goes elsewhere, to any sectors of
   * a file that is as long, or nowhere.
   */
  public void strayAtWrite(int n) {
    writesUntilStray = n;
    arrivesLate = false;
  }

  /**
   * The same, but the write arrives after all when the process ends before a later one is durable:
   * the loss of the last write of a log cannot be told from a write that was cut off.
   */
  public void strayUnlessLastAtWrite(int n) {
    writesUntilStray = n;
    arrivesLate = true;
  }

  /** Whether syncs of files from now on do nothing, which nobody hears. */
  public void skipSyncs(boolean isOn) {
    skipsSyncs = isOn;
  }

  /** From now on space can only be taken by writing zeros. */
  public void refuseAllocation() {
    refusesAllocation = true;
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

  /** Reads of this file, or those that match, that touch any of these bytes fail. */
  public void makeUnreadable(String name, long from, long to) {
    unreadable = name;
    unreadableFrom = from;
    unreadableTo = to;
  }

  /** That ends once this other file is written: the error was not of the medium. */
  public void makeReadableOnceWritten(String name) {
    unreadableUntilWritten = name;
  }

  /** From now on this file cannot be opened, also to read it; "" for none. */
  public void makeUnopenable(String name) {
    unopenable = name;
  }

  /** What the drive holds when power comes back. Everything opened before is void. */
  public void reboot() {
    deliverLate();
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
    errors.clear();
  }

  /**
   * The process ended and another one starts: what it had written is all there, synced or not.
   * Everything opened before is void.
   */
  public void restart() {
    deliverLate();
    isDown = false;
    callsUntilCrash = Long.MAX_VALUE;
    errors.clear();
  }

  private void deliverLate() {
    if (lateWrite != null) {
      lateWrite.run();
      lateWrite = null;
    }
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
      throw new IOException(name);
    }
    if (names.containsKey(name)) {
      throw new IOException("exists: " + name);
    }
    SimulatedFile file = new SimulatedFile(name, new byte[(int) size], new byte[(int) size]);
    boolean isError = isError(Calls.NAMES);
    if (isError && random.nextBoolean()) {
      errorCount++;
      throw new IOException("simulated, for " + name);
    }
    names.put(name, file);
    noteNames();
    failIf(isError);
    return file;
  }

  @Override
  public boolean allocate(String name, long size) throws IOException {
    if (refusesAllocation || ++allocations % 2 == 0 || usableBytes() < size) {
      return false;
    }
    create(name, size);
    SimulatedFile file = Objects.requireNonNull(names.get(name));
    file.unwrittenBlocks.set(0, (int) size / SECTOR / SECTORS_OF_BLOCK);
    return true;
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
    SimulatedFile file = names.get(from);
    if (file == null) {
      throw new FileNotFoundException(from);
    }
    boolean isError = isError(Calls.NAMES);
    failIf(isError && random.nextBoolean());
    names.remove(from);
    file.name = to;
    names.put(to, file);
    noteNames();
    failIf(isError); // though it was done
  }

  @Override
  public void delete(String name) throws IOException {
    change();
    if (!names.containsKey(name)) {
      throw new FileNotFoundException(name);
    }
    boolean isError = isError(Calls.NAMES);
    failIf(isError && random.nextBoolean());
    names.remove(name);
    noteNames();
    failIf(isError);
  }

  @Override
  public void syncDirectory() throws IOException {
    change();
    failIf(isError(Calls.NAMES));
    durableNames = new TreeMap<>(names);
    unsyncedNames.clear();
  }

  private boolean isError(Calls which) {
    Errors planned = errors.get(which);
    return planned != null && planned.isNext();
  }

  private void failIf(boolean isError) throws IOException {
    if (isError) {
      errorCount++;
      throw new IOException("simulated input/output error");
    }
  }

  @Override
  public long usableBytes() {
    return space.usableBytes();
  }

  long usedBytes() {
    long used = 0;
    for (SimulatedFile file : names.values()) {
      used += file.current.length;
    }
    return used;
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

    /** Which were allocated, and of which nothing is durable. */
    private final BitSet unwrittenBlocks = new BitSet();

    SimulatedFile(String name, byte[] current, byte[] durable) {
      this.name = name;
      this.current = current;
      this.durable = durable;
    }

    @Override
    public void write(List<ByteBuffer> buffers, long position) throws IOException {
      checkPower();
      if (name.equals(unreadableUntilWritten)) {
        unreadableFrom = Long.MAX_VALUE;
      }
      boolean powerGoes = callsUntilCrash == 1;
      if (--writesUntilStray == 0) {
        if (arrivesLate) {
          lateWrite = copyOf(buffers, (int) position);
        }
        stray(buffers);
        change();
        return;
      }
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
      if (name.equals(unopenable)) {
        throw new FileNotOpenedException(name + " cannot be opened: simulated");
      }
      if (name.matches(unreadable)
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
      if (!dirtySectors.isEmpty() && name.startsWith("segment")) {
        lateWrite = null; // a durable batch behind it shows that it is lost
      }
      keepIf(() -> true);
    }

    @Override
    public long size() {
      return current.length;
    }

    @Override
    public void close() {}

    /** As a kernel does after a failed sync, it forgets that the sectors were never written. */
    private void fail() throws IOException {
      if (isError(Calls.DATA)) {
        keepIf(random::nextBoolean);
        failIf(true);
      }
    }

    /** Writes these bytes to where they belong, and makes them durable. */
    private Runnable copyOf(List<ByteBuffer> buffers, int position) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      for (ByteBuffer buffer : buffers) {
        byte[] part = new byte[buffer.remaining()];
        buffer.get(buffer.position(), part);
        bytes.writeBytes(part);
      }
      ByteBuffer copy = ByteBuffer.wrap(bytes.toByteArray());
      return () -> {
        int end = position + copy.remaining();
        if (end > current.length) {
          current = Arrays.copyOf(current, end);
        }
        if (end > durable.length) {
          durable = Arrays.copyOf(durable, end);
        }
        takeStray(List.of(copy), position);
      };
    }

    /** The disk has taken it, and every cache before the disk has forgotten it. */
    private void stray(List<ByteBuffer> buffers) {
      int length = 0;
      for (ByteBuffer buffer : buffers) {
        length += buffer.remaining();
      }
      int bytes = length;
      List<SimulatedFile> files =
          names.values().stream()
              .filter(file -> file.durable.length >= Math.max(bytes, current.length))
              .toList();
      boolean isLost = files.isEmpty() || random.nextBoolean();
      if (!isLost) {
        SimulatedFile target = files.get(random.nextInt(files.size()));
        int sectors = (target.durable.length - bytes) / SECTOR + 1;
        target.takeStray(buffers, random.nextInt(sectors) * SECTOR);
      }
      buffers.forEach(buffer -> buffer.position(buffer.limit()));
    }

    private void takeStray(List<ByteBuffer> buffers, int position) {
      int at = position;
      for (ByteBuffer buffer : buffers) {
        buffer.get(buffer.position(), current, at, buffer.remaining());
        buffer.get(buffer.position(), durable, at, buffer.remaining());
        at += buffer.remaining();
      }
    }

    private void losePower(int chance) {
      keepIf(
          () ->
              switch (chance) {
                case 0 -> false;
                case 1 -> true;
                case 2 -> random.nextBoolean();
                default -> random.nextInt(20) > 0;
              });
      current = durable.clone();
    }

    /** Keeps those dirty sectors that survive; a block's first ones together or not at all. */
    private void keepIf(BooleanSupplier survives) {
      int firstWritten = -1;
      boolean isFirstKept = false;
      for (int sector = dirtySectors.nextSetBit(0);
          sector >= 0;
          sector = dirtySectors.nextSetBit(sector + 1)) {
        boolean isKept = survives.getAsBoolean();
        int block = sector / SECTORS_OF_BLOCK;
        if (block == firstWritten) {
          isKept = isFirstKept;
        } else if (unwrittenBlocks.get(block)) {
          firstWritten = block;
          isFirstKept = isKept;
          unwrittenBlocks.set(block, !isKept);
        }
        if (isKept) {
          keep(sector);
        }
      }
      dirtySectors.clear();
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
