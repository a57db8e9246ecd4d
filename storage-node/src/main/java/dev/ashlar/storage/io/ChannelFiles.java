package dev.ashlar.storage.io;

import dev.ashlar.codec.isal.NativeAllocation;
import dev.ashlar.codec.isal.NativeFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A directory of the operating system. */
public final class ChannelFiles implements RawFiles {
  private static final int FILL_BYTES = 1 << 20;
  private static final Set<StandardOpenOption> PRESENT =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);
  private static final Set<StandardOpenOption> NEW =
      Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
  private static final String PROBE = "direct-io-probe";

  private final Path folder;

  /** Looked up once, because the lookup parses the mount table. */
  private final FileStore fileSystem;

  private final IoMode mode;
  private final boolean direct;
  private final LongReads longReads = new LongReads();

  /** Whether the file system has no drive. */
  private final boolean isInMemory;

  private ChannelFiles(Path folder, IoMode mode, boolean direct) throws IOException {
    this.folder = folder;
    this.mode = mode;
    fileSystem = Files.getFileStore(folder);
    isInMemory = fileSystem.type().equals("tmpfs");
    this.direct = direct;
  }

  /** Opens a directory and tests whether its file system supports direct I/O. */
  public static ChannelFiles open(Path folder, IoMode mode) throws IOException {
    PrivateFiles.createFolders(folder);
    boolean direct = mode != IoMode.BUFFERED && canBypass(folder);
    if (mode == IoMode.DIRECT && !direct) {
      throw new IOException(
          folder + ": the file system does not support direct I/O in 4 KiB blocks");
    }
    return new ChannelFiles(folder, mode, direct);
  }

  public boolean isDirect() {
    return direct;
  }

  @Override
  public RawFile create(String name, long size) throws IOException {
    Path path = folder.resolve(name);
    RawFile file;
    try {
      file = open(path, NEW);
    } catch (TooManyOpenFilesException e) {
      Files.deleteIfExists(path); // the first of two channels may have created it
      throw e;
    }
    try {
      fill(file, size);
      file.sync();
      return file;
    } catch (IOException e) {
      file.close();
      Files.deleteIfExists(path);
      if (usableBytes() < FILL_BYTES) {
        throw new IOException(path + ": no room for " + size + " bytes", e);
      }
      throw e;
    }
  }

  /**
   * Allocated space is as safe from a lack of space as zeros. File systems that write elsewhere
   * what is overwritten (btrfs, zfs) may find no space for either; btrfs keeps the allocated one
   * for the first write. ext4 and XFS keep blocks of their own to note that allocated ones are
   * written.
   */
  @Override
  public boolean allocate(String name, long size) throws IOException {
    Path path = folder.resolve(name);
    try {
      PrivateFiles.open(path, NEW).close();
    } catch (IOException e) {
      throw TooManyOpenFilesException.orSame(e);
    }
    if (NativeAllocation.allocate(path, size)) {
      return true;
    }
    Files.delete(path);
    return false;
  }

  @Override
  public RawFile open(String name) throws IOException {
    return open(folder.resolve(name), PRESENT);
  }

  @Override
  public long size(String name) throws IOException {
    return Files.size(folder.resolve(name));
  }

  @Override
  public List<String> list() throws IOException {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.filter(Files::isRegularFile).map(p -> p.getFileName().toString()).toList();
    } catch (IOException e) {
      throw TooManyOpenFilesException.orSame(e);
    }
  }

  @Override
  public void rename(String from, String to) throws IOException {
    Files.move(
        folder.resolve(from),
        folder.resolve(to),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
  }

  @Override
  public void delete(String name) throws IOException {
    Files.delete(folder.resolve(name));
  }

  @Override
  public void syncDirectory() throws IOException {
    try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    } catch (IOException e) {
      throw TooManyOpenFilesException.orSame(e);
    }
  }

  @Override
  public long usableBytes() throws IOException {
    return fileSystem.getUsableSpace();
  }

  private RawFile open(Path path, Set<StandardOpenOption> how) throws IOException {
    @Nullable FileChannel buffered = null;
    try {
      buffered = PrivateFiles.open(path, how);
      boolean isCached = mode != IoMode.DIRECT || isInMemory;
      NativeFile cached = isCached ? NativeFile.of(buffered, isInMemory) : null;
      return new ChannelFile(
          buffered,
          direct ? openDirect(path) : null,
          mode,
          cached,
          longReads,
          path.getFileName().toString().hashCode());
    } catch (IOException e) {
      if (buffered != null) {
        buffered.close();
      }
      throw TooManyOpenFilesException.orSame(e);
    }
  }

  private static FileChannel openDirect(Path path) throws IOException {
    return FileChannel.open(
        path, StandardOpenOption.READ, StandardOpenOption.WRITE, directOption());
  }

  /**
   * {@code ExtendedOpenOption.DIRECT}, found by name: the option is supported, but javac warns
   * about its package and the warning cannot be suppressed.
   */
  private static OpenOption directOption() {
    try {
      Object[] options = Class.forName("com.sun.nio.file.ExtendedOpenOption").getEnumConstants();
      return Stream.of(options)
          .filter(option -> option.toString().equals("DIRECT"))
          .map(OpenOption.class::cast)
          .findAny()
          .orElseThrow(() -> new UnsupportedOperationException("no direct I/O in this JDK"));
    } catch (ClassNotFoundException e) {
      throw new UnsupportedOperationException("no direct I/O in this JDK", e);
    }
  }

  private static void fill(RawFile file, long size) throws IOException {
    ByteBuffer zeros = alignedBuffer((int) Math.min(size, FILL_BYTES));
    for (long at = 0; at < size; ) {
      ByteBuffer part = zeros.slice(0, (int) Math.min(size - at, zeros.capacity()));
      at += part.remaining();
      file.write(List.of(part), at - part.remaining());
    }
  }

  private static boolean canBypass(Path folder) throws IOException {
    Path probe = folder.resolve(PROBE);
    Files.deleteIfExists(probe);
    Files.createFile(probe);
    try (FileChannel channel = openDirect(probe)) {
      return channel.write(alignedBuffer(ChannelFile.ALIGNMENT), 0) == ChannelFile.ALIGNMENT;
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    } finally {
      Files.deleteIfExists(probe);
    }
  }

  private static ByteBuffer alignedBuffer(int bytes) {
    return ByteBuffer.allocateDirect(bytes + ChannelFile.ALIGNMENT)
        .alignedSlice(ChannelFile.ALIGNMENT)
        .slice(0, bytes);
  }

  @Override
  public String toString() {
    return folder.toString();
  }
}
