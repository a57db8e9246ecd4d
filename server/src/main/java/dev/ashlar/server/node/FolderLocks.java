package dev.ashlar.server.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Metadata folders that no other process may open while this one runs. A lock ends with its
 * process, however that ends; the file stays and names the last holder.
 */
final class FolderLocks implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(FolderLocks.class);
  private static final String FILE = "lock";

  private final Map<Path, FileChannel> held = new HashMap<>();

  /**
   * Takes those of these folders that exist and are not yet held. One that cannot be written is
   * left to whoever opens it: metadata goes on without it while a majority is whole.
   *
   * @throws IOException naming the folder, and its holder where known, when another process has it
   */
  void takeExisting(List<Path> folders) throws IOException {
    for (Path folder : folders) {
      if (!held.containsKey(folder) && Files.isDirectory(folder)) {
        FileChannel file;
        try {
          file = open(folder);
        } catch (IOException e) {
          LOG.error("Cannot lock {}: {}", folder, e.toString());
          continue;
        }
        lock(folder, file);
        held.put(folder, file);
      }
    }
  }

  /** Takes one of them again that may be another file system by now. */
  void retake(Path folder) throws IOException {
    FileChannel before = held.remove(folder);
    if (before != null) {
      before.close();
    }
    takeExisting(List.of(folder));
  }

  private static FileChannel open(Path folder) throws IOException {
    return FileChannel.open(
        folder.resolve(FILE),
        StandardOpenOption.CREATE,
        StandardOpenOption.READ,
        StandardOpenOption.WRITE);
  }

  private static void lock(Path folder, FileChannel file) throws IOException {
    try {
      if (!isLocked(file)) {
        throw new IOException(folder + " is in use by another process" + holder(file));
      }
      file.truncate(0);
      String pid = ProcessHandle.current().pid() + "\n";
      file.write(ByteBuffer.wrap(pid.getBytes(StandardCharsets.US_ASCII)));
    } catch (IOException e) {
      file.close();
      throw e;
    }
  }

  private static boolean isLocked(FileChannel file) throws IOException {
    try {
      return file.tryLock() != null;
    } catch (OverlappingFileLockException heldByThisProcess) {
      return false;
    }
  }

  private static String holder(FileChannel file) throws IOException {
    ByteBuffer pid = ByteBuffer.allocate(20);
    file.read(pid, 0);
    String text = new String(pid.array(), 0, pid.position(), StandardCharsets.US_ASCII).strip();
    return text.isEmpty() ? "" : " (pid " + text + ")";
  }

  @Override
  public void close() throws IOException {
    for (FileChannel file : held.values()) {
      file.close();
    }
    held.clear();
  }
}
