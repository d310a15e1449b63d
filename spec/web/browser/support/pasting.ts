/** Pastes a text, as a script: Chromium's own insertion of several lines would bring styles with it. */
export function pasting(content: string): string {
  return `{
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', ${JSON.stringify(content)});
    document
      .querySelector('.text-half .editor-host')
      .shadowRoot.querySelector('.cm-content')
      .dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  }`;
}
