package dev.ashlar.storage.io;

import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The files of a directory, opened for reading only: what is written to them stays in memory, and
 * is read back from there. So everything that opens a drive can look at one without a change of it.
 */
public final class ShadowFiles implements RawFiles {
  private final Path folder;

  /** The files that were opened or created, by their present names. */
  private final Map<String, Shadow> files = new HashMap<>();

  private final Set<String> deleted = new HashSet<>();

  public ShadowFiles(Path folder) {
    this.folder = folder;
  }

  /** Whether anything was written to this file. */
  public synchronized boolean isChanged(String name) {
    Shadow file = files.get(name);
    return file != null && file.isChanged();
  }

  @Override
  public synchronized RawFile create(String name, long size) {
    Shadow file = new Shadow(null, size);
    files.put(name, file);
    deleted.remove(name);
    return file.handle();
  }

  @Override
  public boolean allocate(String name, long size) {
    return false;
  }

  @Override
  public synchronized RawFile open(String name) throws IOException {
    return shadow(name).handle();
  }

  private Shadow shadow(String name) throws IOException {
    Shadow present = files.get(name);
    if (present != null) {
      return present;
    }
    if (deleted.contains(name)) {
      throw new FileNotFoundException(folder.resolve(name).toString());
    }
    Path path = folder.resolve(name);
    Shadow opened = new Shadow(path, Files.size(path));
    files.put(name, opened);
    return opened;
  }

  @Override
  public List<String> list() throws IOException {
    Set<String> names = new HashSet<>();
    try (Stream<Path> entries = Files.list(folder)) {
      entries
          .filter(Files::isRegularFile)
          .forEach(file -> names.add(file.getFileName().toString()));
    }
    synchronized (this) {
      names.removeAll(deleted);
      names.addAll(files.keySet());
    }
    return List.copyOf(names);
  }

  @Override
  public synchronized void rename(String from, String to) throws IOException {
    Shadow moved = shadow(from);
    files.remove(from);
    files.put(to, moved);
    deleted.remove(to);
    deleted.add(from);
  }

  @Override
  public synchronized void delete(String name) {
    files.remove(name);
    deleted.add(name);
  }

  @Override
  public void syncDirectory() {}

  @Override
  public long usableBytes() throws IOException {
    return Files.getFileStore(folder).getUsableSpace();
  }

  @Override
  public String toString() {
    return folder.toString();
  }

  private record Written(long position, byte[] bytes) {
    long end() {
      return position + bytes.length;
    }
  }

  /** A file with what was written to it. */
  private static final class Shadow {
    private final @Nullable Path path;
    private final List<Written> written = new ArrayList<>();
    private long size;

    /**
     * @param path null: the file is new, and filled with zeros
     */
    Shadow(@Nullable Path path, long size) {
      this.path = path;
      this.size = size;
    }

    /** Another opening of it. */
    RawFile handle() {
      return new Handle(this);
    }

    synchronized boolean isChanged() {
      return !written.isEmpty();
    }

    synchronized long size() {
      return size;
    }

    synchronized void write(List<ByteBuffer> buffers, long position) {
      long at = position;
      for (ByteBuffer buffer : buffers) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        written.add(new Written(at, bytes));
        at += bytes.length;
      }
      size = Math.max(size, at);
    }

    /** Puts what was written over what was read. */
    synchronized void lay(ByteBuffer read, int start, long position) {
      int length = read.position() - start;
      for (Written each : written) {
        long from = Math.max(each.position(), position);
        long to = Math.min(each.end(), position + length);
        if (from < to) {
          read.put(
              start + (int) (from - position),
              each.bytes(),
              (int) (from - each.position()),
              (int) (to - from));
        }
      }
    }
  }

  private static final class Handle implements RawFile {
    private final Shadow file;
    private @Nullable FileChannel channel;

    Handle(Shadow file) {
      this.file = file;
    }

    @Override
    public void write(List<ByteBuffer> buffers, long position) {
      file.write(buffers, position);
    }

    @Override
    public void read(ByteBuffer target, long position) throws IOException {
      if (position + target.remaining() > file.size()) {
        throw new EOFException("at " + position + " of " + file.size());
      }
      int start = target.position();
      FileChannel open = channel();
      for (long at = position; open != null && target.hasRemaining(); ) {
        int bytes = open.read(target, at);
        if (bytes <= 0) {
          break;
        }
        at += bytes;
      }
      while (target.hasRemaining()) {
        target.put((byte) 0); // written in memory only, or never
      }
      file.lay(target, start, position);
    }

    private synchronized @Nullable FileChannel channel() throws IOException {
      Path path = file.path;
      if (channel == null && path != null) {
        channel = FileChannel.open(path, StandardOpenOption.READ);
      }
      return channel;
    }

    @Override
    public void sync() {}

    @Override
    public long size() {
      return file.size();
    }

    @Override
    public synchronized void close() throws IOException {
      if (channel != null) {
        channel.close();
        channel = null;
      }
    }
  }
}
