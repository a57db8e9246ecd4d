package dev.ashlar.bench.chart;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Base64;
import java.util.List;

/**
 * One HTML file that needs no other: its charts are inside, and each shows itself light or dark as
 * the reader's system is set.
 */
public final class Page {
  private static final String STYLE =
      """
      :root { color-scheme: light dark; --ground: #fff; --text: #222; --line: #d9d9d9; }
      @media (prefers-color-scheme: dark) {
        :root { --ground: #16181d; --text: #e6e6e6; --line: #3a3f47; }
      }
      body { background: var(--ground); color: var(--text); font: 16px/1.5 system-ui, sans-serif;
             max-width: 1100px; margin: 2rem auto; padding: 0 1rem; }
      figure { margin: 2.5rem 0; }
      img { width: 100%; height: auto; }
      .wide { overflow-x: auto; }
      table { border-collapse: collapse; font-size: 14px; }
      th, td { border-bottom: 1px solid var(--line); padding: .25rem .6rem; text-align: right; }
      th:first-child, td:first-child { text-align: left; }
      """;

  private final Path folder;
  private final StringBuilder body = new StringBuilder();

  /**
   * @param folder where its charts are written too
   */
  public Page(Path folder) {
    this.folder = folder;
  }

  public void paragraph(String text) {
    body.append("<p>").append(escaped(text)).append("</p>\n");
  }

  public void heading(String text) {
    body.append("<h2>").append(escaped(text)).append("</h2>\n");
  }

  /** Draws it into files of its own and into the page. */
  public void figure(Figure figure) throws IOException {
    ChartFiles.Svg svg = ChartFiles.write(folder, figure);
    body.append("<figure><picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"")
        .append(url(svg.dark()))
        .append("\"><img alt=\"")
        .append(escaped(figure.title()))
        .append("\" src=\"")
        .append(url(svg.light()))
        .append("\"></picture><figcaption>")
        .append(escaped(figure.caption()))
        .append("</figcaption></figure>\n");
  }

  public void table(List<String> head, List<List<String>> rows) {
    body.append("<div class=\"wide\"><table><thead>");
    row("th", head);
    body.append("</thead><tbody>");
    rows.forEach(row -> row("td", row));
    body.append("</tbody></table></div>\n");
  }

  private void row(String tag, List<String> cells) {
    body.append("<tr>");
    for (String cell : cells) {
      body.append('<').append(tag).append('>').append(escaped(cell));
      body.append("</").append(tag).append('>');
    }
    body.append("</tr>\n");
  }

  /** Writes {@code index.html}, which must not be there yet. */
  public Path write(String title) throws IOException {
    String html =
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
            + "<meta name=\"viewport\" content=\"width=device-width\">\n<title>"
            + escaped(title)
            + "</title>\n<style>\n"
            + STYLE
            + "</style></head><body>\n<h1>"
            + escaped(title)
            + "</h1>\n"
            + body
            + "</body></html>\n";
    return Files.writeString(folder.resolve("index.html"), html, StandardOpenOption.CREATE_NEW);
  }

  private static String url(String svg) {
    return "data:image/svg+xml;base64,"
        + Base64.getEncoder().encodeToString(svg.getBytes(StandardCharsets.UTF_8));
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
  }
}
