package dev.ashlar.gateway.encryption.frame;

import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.FrameLayout;
import dev.ashlar.protocol.message.EncryptedRun;
import dev.ashlar.protocol.message.ObjectRecord;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/** Where the plain bytes of an encrypted object lie: the frames of its runs, in order. */
public final class RunMap {
  private final List<EncryptedRun> runs;

  /**
   * @param runs at least one
   */
  RunMap(List<EncryptedRun> runs) {
    if (runs.isEmpty()) {
      throw new IllegalArgumentException("an encrypted object has a run");
    }
    this.runs = runs;
  }

  public static RunMap of(ObjectRecord object) {
    return new RunMap(object.getFacts().getRunsList());
  }

  /** The plain size of all runs. */
  public long size() {
    return runs.stream().mapToLong(EncryptedRun::getSize).sum();
  }

  /**
   * The same runs when the last one has grown.
   *
   * @param size of all runs then, at least the present one
   */
  public RunMap grownTo(long size) {
    EncryptedRun last = runs.getLast();
    List<EncryptedRun> grown = new ArrayList<>(runs);
    grown.set(runs.size() - 1, last.toBuilder().setSize(last.getSize() + size - size()).build());
    return new RunMap(grown);
  }

  /** The frame with this plain byte. */
  public Frame frame(long offset) {
    return framesFrom(offset).next();
  }

  /** The frames from the one with this plain byte on; none if it is behind the end. */
  public Iterator<Frame> framesFrom(long offset) {
    int run = 0;
    long plainStart = 0;
    long storedStart = 0;
    while (run < runs.size() && offset - plainStart >= runs.get(run).getSize()) {
      plainStart += runs.get(run).getSize();
      storedStart += FrameLayout.storedSize(runs.get(run).getSize());
      run++;
    }
    return new Frames(
        run, plainStart, storedStart, (offset - plainStart) / FrameLayout.PLAIN_BYTES);
  }

  /**
   * The stored bytes of the frames that a range of plain bytes touches.
   *
   * @param plain within the object
   */
  public ByteRange stored(ByteRange plain) {
    if (plain.isEmpty()) {
      return ByteRange.EMPTY;
    }
    long from = frame(plain.offset()).storedOffset();
    return new ByteRange(from, frame(plain.end() - 1).storedEnd() - from);
  }

  private final class Frames implements Iterator<Frame> {
    private int run;
    private long plainStart;
    private long storedStart;
    private long number;

    /**
     * @param run index of the run of the next frame
     * @param plainStart where its plain bytes begin
     * @param storedStart where its stored bytes begin
     * @param number of the next frame
     */
    Frames(int run, long plainStart, long storedStart, long number) {
      this.run = run;
      this.plainStart = plainStart;
      this.storedStart = storedStart;
      this.number = number;
    }

    @Override
    public boolean hasNext() {
      while (run < runs.size() && number == FrameLayout.frames(runs.get(run).getSize())) {
        plainStart += runs.get(run).getSize();
        storedStart += FrameLayout.storedSize(runs.get(run).getSize());
        number = 0;
        run++;
      }
      return run < runs.size();
    }

    @Override
    public Frame next() {
      if (!hasNext()) {
        throw new NoSuchElementException("no frame behind the last one");
      }
      EncryptedRun of = runs.get(run);
      long at = number * FrameLayout.PLAIN_BYTES;
      int length = (int) Math.min(FrameLayout.PLAIN_BYTES, of.getSize() - at);
      long storedAt = storedStart + number * FrameLayout.FRAME_BYTES;
      return new Frame(of.getId(), number++, length, plainStart + at, storedAt);
    }
  }
}
