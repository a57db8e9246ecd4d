package dev.ashlar.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.EnumSet;
import java.util.Map;
import java.util.Properties;
import java.util.Set;

/**
 * The access key that may do everything.
 *
 * @param origin where it came from, for the start-up message
 * @param fresh whether it was made just now
 */
record RootCredential(String accessKey, String secretKey, String origin, boolean fresh) {
  private static final String ACCESS_KEY = "ASHLAR_ACCESS_KEY";
  private static final String SECRET_KEY = "ASHLAR_SECRET_KEY";
  private static final String ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  private static final String SECRET_ALPHABET =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

  RootCredential {
    if (accessKey.length() < 3 || accessKey.length() > 128 || accessKey.contains("/")) {
      throw new IllegalArgumentException("an access key has 3 to 128 characters and no slash");
    }
    if (secretKey.length() < 8) {
      throw new IllegalArgumentException("a secret key has at least 8 characters");
    }
  }

  /** From the environment, else from the file, else made up and kept in the file. */
  static RootCredential load(Map<String, String> environment, Path file) throws IOException {
    String accessKey = environment.get(ACCESS_KEY);
    String secretKey = environment.get(SECRET_KEY);
    if (accessKey != null && secretKey != null) {
      return new RootCredential(accessKey, secretKey, "the environment", false);
    }
    if (accessKey != null || secretKey != null) {
      throw new IllegalArgumentException(ACCESS_KEY + " and " + SECRET_KEY + " go together");
    }
    return Files.exists(file) ? read(file) : generate(file);
  }

  private static RootCredential read(Path file) throws IOException {
    Properties properties = new Properties();
    try (var reader = Files.newBufferedReader(file)) {
      properties.load(reader);
    }
    String accessKey = properties.getProperty(ACCESS_KEY);
    String secretKey = properties.getProperty(SECRET_KEY);
    if (accessKey == null || secretKey == null) {
      throw new IOException(file + " lacks " + ACCESS_KEY + " or " + SECRET_KEY);
    }
    return new RootCredential(accessKey, secretKey, file.toString(), false);
  }

  private static RootCredential generate(Path file) throws IOException {
    SecureRandom random = new SecureRandom();
    RootCredential credential =
        new RootCredential(
            "AK" + text(random, ALPHABET, 18),
            text(random, SECRET_ALPHABET, 40),
            file.toString(),
            true);
    String content =
        ACCESS_KEY
            + "="
            + credential.accessKey
            + "\n"
            + SECRET_KEY
            + "="
            + credential.secretKey
            + "\n";
    Path temporary = file.resolveSibling(file.getFileName() + ".new");
    Files.deleteIfExists(temporary);
    Set<StandardOpenOption> options =
        EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    var ownerOnly =
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    try (FileChannel channel = FileChannel.open(temporary, options, ownerOnly)) {
      channel.write(ByteBuffer.wrap(content.getBytes(StandardCharsets.UTF_8)));
      channel.force(true);
    }
    Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    return credential;
  }

  private static String text(SecureRandom random, String alphabet, int length) {
    StringBuilder text = new StringBuilder(length);
    for (int i = 0; i < length; i++) {
      text.append(alphabet.charAt(random.nextInt(alphabet.length())));
    }
    return text.toString();
  }

  @Override
  public String toString() {
    return "RootCredential[" + accessKey + "]";
  }
}
