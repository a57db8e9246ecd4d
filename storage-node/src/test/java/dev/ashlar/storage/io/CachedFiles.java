package dev.ashlar.storage.io;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;

/** Files that are in memory, or not, as a test says. */
public final class CachedFiles extends ForwardingFiles {
  private volatile boolean isCached = true;

  public CachedFiles(RawFiles files) {
    super(files);
  }

  /** Whether the page cache has them. */
  public void cache(boolean isOn) {
    isCached = isOn;
  }

  @Override
  protected RawFile wrap(String name, RawFile file) {
    return new CachedFile(file);
  }

  private final class CachedFile extends ForwardingFile {
    CachedFile(RawFile file) {
      super(file);
    }

    @Override
    public boolean readCached(ByteBuffer target, long position) {
      if (!isCached) {
        return false;
      }
      try {
        read(target, position);
        return true;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
