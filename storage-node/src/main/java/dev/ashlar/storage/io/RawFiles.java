package dev.ashlar.storage.io;

import java.io.IOException;
import java.util.List;

/** The folder of one drive. Names are plain file names; subfolders are not seen. */
public interface RawFiles {
  /**
   * A new file of this size, all zeros and its space taken, durable except for its name.
   *
   * @throws NoSpaceException if there is no room; nothing is left behind
   */
  RawFile create(String name, long size) throws IOException;

  /**
   * @throws TooManyOpenFilesException if as many are open as may be; so do the others that open one
   */
  RawFile open(String name) throws IOException;

  /** How long the file is. */
  default long size(String name) throws IOException {
    try (RawFile file = open(name)) {
      return file.size();
    }
  }

  /** Names of all files, in no special order. */
  List<String> list() throws IOException;

  /** Replaces a file of the new name if there is one. */
  void rename(String from, String to) throws IOException;

  void delete(String name) throws IOException;

  /** Makes created, renamed and deleted names durable. */
  void syncDirectory() throws IOException;

  /** Bytes that new files could take. */
  long usableBytes() throws IOException;
}
