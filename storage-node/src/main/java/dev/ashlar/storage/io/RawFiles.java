package dev.ashlar.storage.io;

import java.io.IOException;
import java.util.List;

/**
 * The directory of a drive. Names are plain file names; subdirectories are ignored. {@code
 * toString} names the directory in log lines.
 */
public interface RawFiles {
  /**
   * Creates a file of this size, filled with zeros and with its space allocated. It is durable
   * except for its name.
   *
   * @throws IOException if there is no space; nothing is left behind
   */
  RawFile create(String name, long size) throws IOException;

  /**
   * Creates a file of this size with its space allocated but not written: it is read as zeros. It
   * is durable except for its name.
   *
   * @return false if that is not possible here or there is no space; no file is left then, and
   *     {@link #create} fails with the reason
   */
  boolean allocate(String name, long size) throws IOException;

  /**
   * @throws TooManyOpenFilesException if the limit for open files is reached; other methods that
   *     open a file throw it too
   */
  RawFile open(String name) throws IOException;

  default long size(String name) throws IOException {
    try (RawFile file = open(name)) {
      return file.size();
    }
  }

  /** The names of all files, in no particular order. */
  List<String> list() throws IOException;

  /** Renames a file, replacing an existing one. */
  void rename(String from, String to) throws IOException;

  void delete(String name) throws IOException;

  /** Makes created, renamed and deleted names durable. */
  void syncDirectory() throws IOException;

  /** Free space for new files, in bytes. */
  long usableBytes() throws IOException;
}
