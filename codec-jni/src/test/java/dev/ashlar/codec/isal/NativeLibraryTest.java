package dev.ashlar.codec.isal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.codec.CodecChoice;
import dev.ashlar.codec.Codecs;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class NativeLibraryTest {
  @TempDir Path temp;

  /** What the child processes of these tests run. */
  static final class Child {
    private Child() {}

    public static void main(String[] args) {
      if (args.length > 1) {
        System.out.println(NativeAllocation.allocate(Path.of(args[1]), 1 << 20));
      }
      System.out.println(Codecs.create(CodecChoice.valueOf(args[0]), 4, 2).name());
    }
  }

  @Test
  void manyProcessesExtractAtOnce() throws Exception {
    Assumptions.assumeTrue(NativeLibrary.failure() == null, NativeLibrary.failure());
    String jar = jar(true);
    List<Process> children = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      children.add(start(jar, "ISAL"));
    }
    for (Process child : children) {
      assertEquals("isal", output(child));
      assertEquals(0, child.exitValue());
    }
    try (Stream<Path> files = Files.list(temp.resolve("native"))) {
      assertEquals(1, files.count(), "one file per content, and no temporary ones left");
    }
  }

  @Test
  void withoutLibraryAutoWarnsAndIsalExplains() throws Exception {
    String jar = jar(false);
    String auto = output(start(jar, "AUTO"));
    assertTrue(auto.contains("WARN") && auto.contains("this build has none"), auto);
    assertTrue(auto.endsWith("java"), auto);
    Process isal = start(jar, "ISAL");
    String output = output(isal);
    assertNotEquals(0, isal.exitValue());
    assertTrue(output.contains("The native codec (ISA-L) is not available"), output);
  }

  @Test
  void withoutLibraryNothingIsAllocated() throws Exception {
    Path file = Files.createFile(temp.resolve("file"));
    String output = output(start(jar(false), "JAVA", file.toString()));
    assertEquals("false\njava", output);
    assertEquals(0, Files.size(file));
    Assumptions.assumeTrue(NativeLibrary.failure() == null, NativeLibrary.failure());
    assertTrue(NativeAllocation.allocate(file, 1 << 20));
    assertEquals(1 << 20, Files.size(file));
  }

  @Test
  void whatIsNoFileIsNotAllocated() {
    assertFalse(NativeAllocation.allocate(temp, 1 << 20));
    assertFalse(NativeAllocation.allocate(temp.resolve("absent"), 1 << 20));
    assertFalse(NativeAllocation.allocate(temp.resolve("long".repeat(2000)), 1 << 20));
    assertFalse(Files.exists(temp.resolve("absent")));
    assertThrows(
        IllegalArgumentException.class, () -> NativeAllocation.allocate(temp.resolve("file"), 0));
  }

  @Test
  void aDamagedOrForeignCopyIsReplaced() throws IOException {
    byte[] library = {1, 2, 3};
    Path file = ExtractedLibrary.extract(library, temp.resolve("a/b"), "lib.so");
    assertArrayEquals(library, Files.readAllBytes(file));
    Files.delete(file);
    Files.write(file, new byte[] {1, 2});
    assertEquals(file, ExtractedLibrary.extract(library, temp.resolve("a/b"), "lib.so"));
    assertArrayEquals(library, Files.readAllBytes(file));
  }

  @Test
  void aFolderOthersCanWriteToIsNotTrusted() throws IOException {
    Path open = Files.createDirectory(temp.resolve("open"));
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
    assertThrows(IOException.class, () -> ExtractedLibrary.extract(new byte[] {1}, open, "lib.so"));
  }

  @Test
  void aLibraryThatCameWithTheSystemIsUsedWithoutWriting() throws IOException {
    Path folder = Files.createDirectory(temp.resolve("installed"));
    Path file = Files.write(folder.resolve("lib.so"), new byte[] {1, 2, 3});
    Assumptions.assumeTrue(
        Integer.valueOf(0).equals(Files.getAttribute(file, "unix:uid")), "it belongs to root");
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    FileTime before = FileTime.fromMillis(1_000_000);
    Files.setLastModifiedTime(folder, before);
    assertEquals(file, ExtractedLibrary.extract(new byte[] {1, 2, 3}, folder, "lib.so"));
    assertEquals(before, Files.getLastModifiedTime(folder));
  }

  /** The module's classes in a jar, as they are shipped, with or without the library. */
  private String jar(boolean withLibrary) throws IOException {
    Path classes = location(NativeLibrary.class);
    Path jar = temp.resolve("codec.jar");
    try (OutputStream out = Files.newOutputStream(jar);
        JarOutputStream entries = new JarOutputStream(out);
        Stream<Path> files = Files.walk(classes)) {
      for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
        String name = classes.relativize(file).toString();
        if (withLibrary || !name.endsWith(".so")) {
          entries.putNextEntry(new JarEntry(name));
          Files.copy(file, entries);
        }
      }
    }
    return jar.toString();
  }

  private Process start(String jar, String... arguments) throws IOException {
    String loggers =
        Stream.of(
                LoggerFactory.class,
                ch.qos.logback.classic.Logger.class,
                ch.qos.logback.core.Context.class,
                Child.class)
            .map(type -> location(type).toString())
            .reduce("", (path, entry) -> path + ":" + entry);
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx64m",
            "-XX:TieredStopAtLevel=1",
            "--enable-native-access=ALL-UNNAMED",
            "-D" + ExtractedLibrary.FOLDER_PROPERTY + "=" + temp.resolve("native"),
            "-cp",
            jar + loggers,
            Child.class.getName());
    builder.command().addAll(List.of(arguments));
    return builder.redirectErrorStream(true).start();
  }

  private static Path location(Class<?> type) {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().getPath());
  }

  private static String output(Process process) throws IOException, InterruptedException {
    String output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    process.waitFor();
    return output;
  }
}
