package dev.ashlar.transport.tls;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * A file of TLS.
 *
 * @param what it holds, as messages call it
 */
record PemFile(String what, Path path) {
  private static final long BYTES_MAX = 1 << 20;

  /**
   * @throws IOException naming the file
   */
  String read() throws IOException {
    try {
      if (Files.size(path) > BYTES_MAX) {
        throw new IOException("more than " + BYTES_MAX + " bytes");
      }
      return Files.readString(path, StandardCharsets.ISO_8859_1);
    } catch (NoSuchFileException e) {
      throw unreadable("there is no such file", e);
    } catch (AccessDeniedException e) {
      throw unreadable("access denied", e);
    } catch (IOException e) {
      throw unreadable(String.valueOf(e.getMessage()), e);
    }
  }

  private IOException unreadable(String why, IOException cause) {
    return new IOException(this + " cannot be read: " + why, cause);
  }

  @Override
  public String toString() {
    return "TLS " + what + " " + path;
  }
}
