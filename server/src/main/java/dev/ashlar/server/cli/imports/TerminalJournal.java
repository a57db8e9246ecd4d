package dev.ashlar.server.cli.imports;

import dev.ashlar.importer.Journal;

/** Writes what went wrong to the standard error, a line each. */
final class TerminalJournal implements Journal {
  @Override
  public void failed(String what, String why) {
    System.err.println("failed: " + visible(what) + ": " + visible(why));
  }

  @Override
  public void note(String what) {
    System.err.println("note: " + visible(what));
  }

  /** Keys can have line feeds and escape sequences. */
  private static String visible(String text) {
    StringBuilder visible = new StringBuilder();
    text.codePoints()
        .forEach(
            each -> {
              if (Character.isISOControl(each)) {
                visible.append("\\u%04x".formatted(each));
              } else {
                visible.appendCodePoint(each);
              }
            });
    return visible.toString();
  }
}
