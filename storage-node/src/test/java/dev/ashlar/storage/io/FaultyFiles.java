package dev.ashlar.storage.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Files of which the next call of one kind fails in a given way, when told so, or all opens. */
public final class FaultyFiles extends ForwardingFiles {
  private final AtomicReference<@Nullable Fault> next = new AtomicReference<>();
  private volatile boolean failsOpens;

  /** What may fail. */
  public enum Call {
    LIST,
    RENAME,
    WRITE,
    SYNC
  }

  private record Fault(Call call, Callable<? extends Throwable> failure) {}

  public FaultyFiles(RawFiles files) {
    super(files);
  }

  /**
   * @param failure an {@link IOException}, {@link RuntimeException} or {@link Error}
   */
  public void failOnce(Call call, Throwable failure) {
    failOnce(call, () -> failure);
  }

  /**
   * @param failure made while the call waits for it
   */
  public void failOnce(Call call, Callable<? extends Throwable> failure) {
    next.set(new Fault(call, failure));
  }

  /** Whether files that are there cannot be opened. */
  public void failOpens(boolean isOn) {
    failsOpens = isOn;
  }

  private void pass(Call call) throws IOException {
    Fault fault = next.get();
    if (fault == null || fault.call() != call || !next.compareAndSet(fault, null)) {
      return;
    }
    switch (made(fault)) {
      case IOException e -> throw e;
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      case Throwable e -> throw new IllegalArgumentException(e);
    }
  }

  private static Throwable made(Fault fault) {
    try {
      return fault.failure().call();
    } catch (Exception e) {
      return new IllegalStateException(e);
    }
  }

  @Override
  protected RawFile wrap(String name, RawFile file) {
    return new FaultyFile(file);
  }

  @Override
  public RawFile open(String name) throws IOException {
    if (failsOpens) {
      throw new IOException("planned");
    }
    return super.open(name);
  }

  @Override
  public List<String> list() throws IOException {
    pass(Call.LIST);
    return super.list();
  }

  @Override
  public void rename(String from, String to) throws IOException {
    pass(Call.RENAME);
    super.rename(from, to);
  }

  private final class FaultyFile extends ForwardingFile {
    FaultyFile(RawFile file) {
      super(file);
    }

    @Override
    public void write(List<ByteBuffer> buffers, long position) throws IOException {
      pass(Call.WRITE);
      super.write(buffers, position);
    }

    @Override
    public void sync() throws IOException {
      pass(Call.SYNC);
      super.sync();
    }
  }
}
