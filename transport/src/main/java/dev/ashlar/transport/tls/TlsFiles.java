package dev.ashlar.transport.tls;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * The TLS files of a process, in PEM; they may be replaced while it runs.
 *
 * @param certificates its own certificate, then intermediate ones
 * @param key of its own certificate, in PKCS#8 and not encrypted
 * @param authorities that this process trusts to issue the certificates of others
 */
public record TlsFiles(Path certificates, Path key, Path authorities) {

  /** The contents of the TLS files when they were read. */
  record TlsTexts(String certificates, String key, String authorities) {
    private static final long FILE_BYTES_MAX = 1 << 20;

    /**
     * @throws IOException naming the unreadable file
     */
    static TlsTexts read(TlsFiles files) throws IOException {
      return new TlsTexts(
          text("certificate", files.certificates()),
          text("key", files.key()),
          text("authorities", files.authorities()));
    }

    private static String text(String what, Path file) throws IOException {
      try {
        if (Files.size(file) > FILE_BYTES_MAX) {
          throw new IOException("more than " + FILE_BYTES_MAX + " bytes");
        }
        return Files.readString(file, StandardCharsets.ISO_8859_1);
      } catch (NoSuchFileException e) {
        throw unreadable(what, file, "there is no such file", e);
      } catch (AccessDeniedException e) {
        throw unreadable(what, file, "access denied", e);
      } catch (IOException e) {
        throw unreadable(what, file, String.valueOf(e.getMessage()), e);
      }
    }

    private static IOException unreadable(String what, Path file, String why, IOException cause) {
      return new IOException("TLS " + what + " " + file + " cannot be read: " + why, cause);
    }

    /** Never shows the key. */
    @Override
    public String toString() {
      return "TlsTexts";
    }
  }
}
