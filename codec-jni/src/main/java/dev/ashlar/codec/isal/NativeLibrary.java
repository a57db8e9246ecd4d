package dev.ashlar.codec.isal;

import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The native codec, loaded once per process, or the reason why it is not. */
public final class NativeLibrary {
  private static final String FILE_NAME = "libashlarcodec.so";
  private static final @Nullable String FAILURE = load();

  private NativeLibrary() {}

  /** Why the library is not loaded, or null if it is. */
  public static @Nullable String failure() {
    return FAILURE;
  }

  /**
   * @throws IllegalStateException if the library is not loaded
   */
  public static void require() {
    if (FAILURE != null) {
      throw new IllegalStateException("The native codec (ISA-L) is not available: " + FAILURE);
    }
  }

  private static @Nullable String load() {
    String resource = "/native/" + platform() + "/" + FILE_NAME;
    URL url = NativeLibrary.class.getResource(resource);
    if (url == null) {
      return "this build has none for "
          + platform()
          + "; it is built where gcc and libisal-dev are installed";
    }
    try {
      System.load(file(url).toString());
      return null;
    } catch (IOException | URISyntaxException e) {
      return "it could not be extracted: " + e;
    } catch (UnsatisfiedLinkError e) {
      return e.getMessage() + " (is libisal2 installed?)";
    }
  }

  /** The library itself when classes are in a folder, an extracted copy when they are in a jar. */
  private static Path file(URL url) throws IOException, URISyntaxException {
    if (url.getProtocol().equals("file")) {
      return Path.of(url.toURI());
    }
    try (InputStream in = url.openStream()) {
      return ExtractedLibrary.extract(in.readAllBytes(), FILE_NAME);
    }
  }

  private static String platform() {
    String os = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
    String arch = System.getProperty("os.arch", "");
    return os + "-" + (arch.equals("amd64") ? "x86_64" : arch);
  }
}
